// Lets a test use Pipecat's web client as an application does.
import { PipecatClient } from '@pipecat-ai/client-js';
// biome-ignore lint/correctness/noUndeclaredDependencies: the test installs the versions of versions.json
import { DailyTransport } from '@pipecat-ai/daily-transport';
import { SmallWebRTCTransport, WavMediaManager as WebRTCMedia } from '@pipecat-ai/small-webrtc-transport';
import { WavMediaManager, WebSocketTransport } from '@pipecat-ai/websocket-transport';

// Each transport gets a media manager that needs no code from Daily's server, which tests cannot reach.
const transports = {
  daily: () => new DailyTransport(),
  webrtc: () => new SmallWebRTCTransport({ mediaManager: new WebRTCMedia() }),
  websocket: () => new WebSocketTransport({ mediaManager: new WavMediaManager() }),
};

/** Creates a client. The promise `greeting` resolves with the first text that the bot says. */
function open(transport) {
  let client;
  const greeting = new Promise((resolve) => {
    const callbacks = {
      onBotOutput: ({ text }) => resolve(text),
      onError: ({ data }) => {
        window.shownError = data.message;
      },
    };
    client = new PipecatClient({ transport: transports[transport](), enableMic: transport !== 'daily', callbacks });
  });
  return { client, greeting };
}

const requestOf = ({ endpoint, key, requestData }) => ({
  endpoint,
  headers: new Headers({ Authorization: `Bearer ${key}` }),
  requestData,
});

window.startBot = (transport, request) => open(transport).client.startBot(requestOf(request));

window.startBotAndConnect = async (transport, request) => {
  const { client, greeting } = open(transport);
  await client.startBotAndConnect(requestOf(request));
  const text = await greeting;
  await client.disconnect();
  return text;
};

window.connect = async (transport, request) => {
  const { client, greeting } = open(transport);
  await client.connect({ webrtcRequestParams: requestOf(request) });
  const text = await greeting;
  await client.disconnect();
  return text;
};
