import { ApiError, ConnectionError, createClient, ErrorResponse } from '@bothost/contract';
import { LogLevel, logger, PipecatClient } from '@pipecat-ai/client-js';
import { WavMediaManager, WebSocketTransport } from '@pipecat-ai/websocket-transport';
import type { Level } from './levels.ts';
import type { TalkEvent } from './talk-state.ts';

export interface TalkOptions {
  /** The origin of the service, such as `http://127.0.0.1:7420`. */
  readonly origin: string;
  readonly agent: string;
  readonly publicKey: string;
  readonly levels: { readonly you: Level; readonly bot: Level };
  readonly onEvent: (event: TalkEvent) => void;
}

export interface Talk {
  readonly sendText: (text: string) => void;
  readonly setMicrophone: (on: boolean) => void;
  readonly end: () => void;
}

/** The sample rate of recorded audio, in hertz. */
const microphoneHertz = 16_000;
/** The size of an audio frame: 32 ms of 16-bit samples. */
const microphoneFrameBytes = 1024;

logger.setLevel(LogLevel.WARN);

/** Starts a session of an agent and connects to it. Reports everything through `onEvent`, failures included. */
export function startTalk(options: TalkOptions): Talk {
  const { levels, onEvent } = options;
  const media = meteredMedia(levels);
  let isOver = false;

  function finish(event: TalkEvent): void {
    if (isOver) return;
    isOver = true;
    onEvent(event);
    const microphone = client.tracks().local.audio;
    client.disconnect().catch(() => {});
    microphone?.stop();
  }

  const client = new PipecatClient({
    transport: new WebSocketTransport({ mediaManager: media, recorderSampleRate: microphoneHertz }),
    // Set to false, because `connect` opens the microphone and recording starts when the bot is ready. With true, the
    // client would open the microphone a second time, and would not connect without one.
    enableMic: false,
    callbacks: {
      onBotReady: () => {
        if (client.tracks().local.audio !== undefined) client.enableMic(true);
        onEvent({ type: 'phase', phase: 'ready' });
      },
      onUserStartedSpeaking: () => onEvent({ type: 'speaking', who: 'you', speaking: true }),
      onUserStoppedSpeaking: () => onEvent({ type: 'speaking', who: 'you', speaking: false }),
      onBotStartedSpeaking: () => onEvent({ type: 'speaking', who: 'bot', speaking: true }),
      onBotStoppedSpeaking: () => onEvent({ type: 'speaking', who: 'bot', speaking: false }),
      onUserTranscript: ({ text, final }) => final && onEvent({ type: 'user-transcript', text }),
      onBotOutput: (output) => onEvent({ type: 'bot-output', output }),
      onError: ({ data }) => {
        if (isFatal(data)) finish(endOf(data));
        else onEvent({ type: 'bot-error', error: errorOf(data) });
      },
    },
  });

  connect(client, options, () => isOver).catch((cause: unknown) => finish({ type: 'failed', error: messageOf(cause) }));

  return {
    sendText: (text) => {
      onEvent({ type: 'user-text', text });
      client.sendText(text, { run_immediately: true, audio_response: true }).catch(() => {});
    },
    setMicrophone: (on) => {
      client.enableMic(on);
      onEvent({ type: 'microphone', microphone: on ? 'on' : 'off' });
    },
    end: () => finish({ type: 'phase', phase: 'ended' }),
  };
}

async function connect(client: PipecatClient, options: TalkOptions, isOver: () => boolean): Promise<void> {
  const { origin, agent, publicKey, onEvent } = options;
  onEvent({ type: 'phase', phase: 'initializing' });
  if (!globalThis.isSecureContext) {
    throw new Error(
      'The browser does not allow the microphone on this address. Open the page over HTTPS or on localhost.',
    );
  }
  await client.initDevices();
  onEvent({ type: 'microphone', microphone: client.tracks().local.audio === undefined ? 'none' : 'on' });
  if (isOver()) return;

  onEvent({ type: 'phase', phase: 'authenticating' });
  const service = createClient({ origin, key: publicKey });
  const started = await service.startSession({ params: { agentName: agent }, body: { transport: 'websocket' } });
  if (isOver()) return;
  if (started.sessionId !== undefined) onEvent({ type: 'session', sessionId: started.sessionId });
  if (started.wsUrl === undefined) throw new ConnectionError('The service did not return a WebSocket address.');

  onEvent({ type: 'phase', phase: 'connecting' });
  // Send no other fields, such as `sessionId`, because the transport rejects them.
  const { wsUrl, token } = started;
  await client.connect({ wsUrl, ...(token === undefined ? {} : { token }) }).catch(async (cause: unknown) => {
    throw /connect to websocket/.test(String(cause)) ? await refusalOf(origin, wsUrl, token) : cause;
  });
}

/**
 * A browser hides why a WebSocket was refused, but the service gives the same reason in response to a plain request
 * with the same token.
 */
async function refusalOf(origin: string, wsUrl: string, token: string | undefined): Promise<Error> {
  const url = new URL(new URL(wsUrl).pathname, origin);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers }).catch(() => null);
  const { data } = ErrorResponse.safeParse(await response?.json().catch(() => null));
  const isKnown = data !== undefined && data.reason !== 'upgrade-required';
  return new Error(
    isKnown ? data.error : 'The service did not accept the WebSocket. See the session record for the reason.',
  );
}

/** A media manager that loads nothing from other hosts, and measures the loudness of both voices. */
function meteredMedia(levels: TalkOptions['levels']): WavMediaManager {
  const media = new WavMediaManager(microphoneFrameBytes, microphoneHertz);
  const setUserAudioCallback = media.setUserAudioCallback.bind(media);
  media.setUserAudioCallback = (callback) =>
    setUserAudioCallback((pcm) => {
      levels.you.update(pcm);
      callback(pcm);
    });
  const bufferBotAudio = media.bufferBotAudio.bind(media);
  media.bufferBotAudio = (pcm, id) => {
    levels.bot.update(pcm);
    return bufferBotAudio(pcm, id);
  };
  const disconnect = media.disconnect.bind(media);
  // Ignore the rejection if nothing was recorded, because the transport would otherwise leave the WebSocket open.
  media.disconnect = () => disconnect().catch(() => {});
  return media;
}

/** Errors of the bot have the field `error`, errors of the transport the field `message`. */
function errorOf(data: unknown): string {
  const { message, error } = (data ?? {}) as { readonly message?: unknown; readonly error?: unknown };
  return String(message ?? error ?? 'The connection failed.');
}

function isFatal(data: unknown): boolean {
  return (data as { readonly fatal?: unknown } | undefined)?.fatal === true;
}

/** The transport also reports a normal close of its WebSocket as an error; only the close code distinguishes them. */
function endOf(data: unknown): TalkEvent {
  const text = errorOf(data);
  const code = /closed\. Code: (\d+)/.exec(text)?.[1];
  if (code === '1000' || code === '1001') return { type: 'phase', phase: 'ended' };
  return { type: 'failed', error: code === undefined ? text : `The connection to the bot was lost (code ${code}).` };
}

function messageOf(cause: unknown): string {
  if (cause instanceof ApiError) return cause.message;
  const text = cause instanceof Error ? cause.message : String(cause);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
