import { ApiError, ConnectionError, createClient } from '@bothost/contract';
import { LogLevel, logger, PipecatClient } from '@pipecat-ai/client-js';
import { WavMediaManager, WebSocketTransport } from '@pipecat-ai/websocket-transport';
import type { Level } from './levels.ts';
import type { TalkEvent } from './talk-state.ts';

export interface TalkOptions {
  /** Where the service is, as in `http://127.0.0.1:7420`. */
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

/** What the transport records and sends (hertz). */
const microphoneRate = 16_000;
/** Bytes of microphone sound per frame: 32 ms. */
const microphoneChunk = 1024;

logger.setLevel(LogLevel.WARN);

/** Begins a session of an agent and connects to it. Everything that happens is told by `onEvent`, failures included. */
export function startTalk(options: TalkOptions): Talk {
  const { levels, onEvent } = options;
  const media = meteredMedia(levels);
  let over = false;

  function finish(event: TalkEvent): void {
    if (over) return;
    over = true;
    onEvent(event);
    const microphone = client.tracks().local.audio;
    client.disconnect().catch(() => {});
    microphone?.stop();
  }

  const client = new PipecatClient({
    transport: new WebSocketTransport({ mediaManager: media, recorderSampleRate: microphoneRate }),
    // It is opened below and recorded from when the bot is ready: with true the client would open it a second time,
    // and would not connect at all where there is none.
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
      onUserTranscript: ({ text, final }) => final && onEvent({ type: 'you-said', text }),
      onBotOutput: (output) => onEvent({ type: 'bot-said', output }),
      onError: (message) => finish(endOf(message.data)),
    },
  });

  connect(client, options, () => over).catch((cause: unknown) => finish({ type: 'failed', error: sentenceOf(cause) }));

  return {
    sendText: (text) => {
      onEvent({ type: 'you-typed', text });
      client.sendText(text, { run_immediately: true, audio_response: true }).catch(() => {});
    },
    setMicrophone: (on) => {
      client.enableMic(on);
      onEvent({ type: 'microphone', microphone: on ? 'on' : 'off' });
    },
    end: () => finish({ type: 'phase', phase: 'ended' }),
  };
}

async function connect(client: PipecatClient, options: TalkOptions, over: () => boolean): Promise<void> {
  const { origin, agent, publicKey, onEvent } = options;
  onEvent({ type: 'phase', phase: 'initializing' });
  if (!globalThis.isSecureContext) {
    throw new Error('Browsers do not allow a page to use the microphone here. Open it over https, or on localhost.');
  }
  await client.initDevices();
  onEvent({ type: 'microphone', microphone: client.tracks().local.audio === undefined ? 'none' : 'on' });
  if (over()) return;

  onEvent({ type: 'phase', phase: 'authenticating' });
  const service = createClient({ origin, key: publicKey });
  const started = await service.startSession({ params: { agentName: agent }, body: { transport: 'websocket' } });
  if (over()) return;
  if (started.sessionId !== undefined) onEvent({ type: 'session', sessionId: started.sessionId });
  if (started.wsUrl === undefined) throw new ConnectionError('The service did not say where to connect.');

  onEvent({ type: 'phase', phase: 'connecting' });
  // The transport refuses any other field, `sessionId` too.
  await client.connect({ wsUrl: started.wsUrl, ...(started.token === undefined ? {} : { token: started.token }) });
}

/** The media manager that plays and records without another host, with both voices measured on their way through. */
function meteredMedia(levels: TalkOptions['levels']): WavMediaManager {
  const media = new WavMediaManager(microphoneChunk, microphoneRate);
  const setUserAudioCallback = media.setUserAudioCallback.bind(media);
  media.setUserAudioCallback = (callback) =>
    setUserAudioCallback((pcm) => {
      levels.you.hear(pcm);
      callback(pcm);
    });
  const bufferBotAudio = media.bufferBotAudio.bind(media);
  media.bufferBotAudio = (pcm, id) => {
    levels.bot.hear(pcm);
    return bufferBotAudio(pcm, id);
  };
  const disconnect = media.disconnect.bind(media);
  // It rejects when there was nothing to record, and the socket behind it would stay open.
  media.disconnect = () => disconnect().catch(() => {});
  return media;
}

/** The transport reports the end of its socket as an error too; only the code tells an orderly end. */
function endOf(data: unknown): TalkEvent {
  const { message, error } = (data ?? {}) as { readonly message?: unknown; readonly error?: unknown };
  const text = String(message ?? error ?? 'The connection failed.');
  const code = /closed\. Code: (\d+)/.exec(text)?.[1];
  if (code === '1000' || code === '1001') return { type: 'phase', phase: 'ended' };
  return { type: 'failed', error: code === undefined ? text : `The connection to the bot was lost (code ${code}).` };
}

function sentenceOf(cause: unknown): string {
  if (cause instanceof ApiError) return cause.message;
  const text = cause instanceof Error ? cause.message : String(cause);
  if (/connect to websocket/.test(text)) {
    return 'The bot did not accept the connection. It may have no WebSocket, it may not have become ready in time, or the agent may be at its session limit.';
  }
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
