import { type BotOutputData, PipecatClient } from '@pipecat-ai/client-js';
import { camera, startHeaders, startUrl } from './config';
import type { WayIn } from './transports';

export type Line = {
  readonly id: number;
  readonly who: 'you' | 'bot';
  readonly text: string;
  /** Bots tell a line when they plan it and again while they speak it; this says that it is the same one. */
  readonly segment?: number;
};

export type State = {
  readonly phase: 'idle' | 'connecting' | 'talking' | 'ended' | 'failed';
  readonly speaking: 'you' | 'bot' | 'nobody';
  readonly microphone: boolean;
  readonly lines: readonly Line[];
  readonly video: MediaStreamTrack | null;
  readonly error: string | null;
};

export type Conversation = {
  /** The same object until something changes. */
  readonly state: () => State;
  /** Calls back at each change, until the answer of this is called. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly start: (way: WayIn) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly setMicrophone: (on: boolean) => void;
};

export const fresh: State = {
  phase: 'idle',
  speaking: 'nobody',
  microphone: true,
  lines: [],
  video: null,
  error: null,
};

/** One conversation at a time with the bot. It knows nothing of how it is shown. */
export function createConversation(): Conversation {
  let state = fresh;
  let client: PipecatClient | null = null;
  const listeners = new Set<() => void>();
  const sound = typeof Audio === 'undefined' ? null : new Audio();

  function change(part: Partial<State>): void {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  }

  function say(line: Omit<Line, 'id'>): void {
    const same = state.lines.findIndex(
      ({ segment }) => segment !== undefined && segment === line.segment,
    );
    const id = (state.lines.at(-1)?.id ?? 0) + 1;
    change({
      lines:
        same === -1
          ? [...state.lines, { ...line, id }]
          : state.lines.map((old, index) => (index === same ? { ...old, text: line.text } : old)),
    });
  }

  function botSaid({ text, aggregated_by, segment_id }: BotOutputData): void {
    if (aggregated_by === 'word' || text.trim() === '') return;
    say({ who: 'bot', text, ...(segment_id === undefined ? {} : { segment: segment_id }) });
  }

  function play(track: MediaStreamTrack): void {
    if (track.kind === 'video') change({ video: track });
    else if (sound !== null) {
      sound.srcObject = new MediaStream([track]);
      sound
        .play()
        .catch(() => change({ error: 'The browser does not play sound yet. Click anywhere.' }));
    }
  }

  async function start(way: WayIn): Promise<void> {
    if (state.phase === 'connecting' || state.phase === 'talking') return;
    change({ ...fresh, phase: 'connecting' });
    try {
      client = new PipecatClient({
        transport: await way.create(),
        enableMic: true,
        enableCam: camera,
        callbacks: {
          onBotReady: () => change({ phase: 'talking' }),
          onDisconnected: () => ended(),
          onUserStartedSpeaking: () => change({ speaking: 'you' }),
          onUserStoppedSpeaking: () => change({ speaking: 'nobody' }),
          onBotStartedSpeaking: () => change({ speaking: 'bot' }),
          onBotStoppedSpeaking: () => change({ speaking: 'nobody' }),
          onUserTranscript: ({ text, final }) => final && say({ who: 'you', text }),
          onBotOutput: botSaid,
          onTrackStarted: (track, participant) => participant?.local !== true && play(track),
          onTrackStopped: (track) => track === state.video && change({ video: null }),
          onError: ({ data }) => failed(data),
        },
      });
      await connect(client, way);
    } catch (error) {
      failed(error);
      await client?.disconnect().catch(() => {});
    }
  }

  function ended(): void {
    if (state.phase !== 'failed') change({ phase: 'ended' });
    change({ speaking: 'nobody', video: null });
  }

  function failed(error: unknown): void {
    change({ phase: 'failed', speaking: 'nobody', error: sentence(error) });
  }

  return {
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start,
    stop: async () => {
      await client?.disconnect();
    },
    setMicrophone: (on) => {
      client?.enableMic(on);
      change({ microphone: on });
    },
  };
}

async function connect(client: PipecatClient, way: WayIn): Promise<void> {
  const request = {
    endpoint: startUrl,
    headers: new Headers(startHeaders),
    requestData: way.request,
  };
  if (way.name !== 'websocket') {
    await client.startBotAndConnect(request);
    return;
  }
  // This transport takes where to connect and nothing else of the answer.
  const answer = await client.startBot(request);
  const { wsUrl, token } = answer as { wsUrl: string; token?: string | null };
  await client.connect({ wsUrl, ...(token ? { token } : {}) });
}

function sentence(error: unknown): string {
  if (error instanceof Error && error.message !== '') return error.message;
  if (typeof error === 'string') return error;
  const message = (error as { message?: unknown; error?: unknown } | null) ?? {};
  return String(message.message ?? message.error ?? 'The bot could not be reached.');
}
