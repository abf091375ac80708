import { type BotOutputData, PipecatClient } from '@pipecat-ai/client-js';
import { camera, startHeaders, startUrl } from './config';
import { hasLeft, sentence } from './sentences';
import type { EntryPoint } from './transports';

export type Line = {
  readonly id: number;
  readonly who: 'you' | 'bot';
  readonly text: string;
  /** Bots send a line when they plan it and again while they speak it; both have the same segment. */
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
  /** Calls the listener at each change, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly start: (entry: EntryPoint) => Promise<void>;
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

/** One conversation at a time with the bot, independent of how it is shown. */
export function createConversation(): Conversation {
  let state = fresh;
  let client: PipecatClient | null = null;
  let attempts = 0;
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
        .catch(() => change({ error: 'Your browser blocks the sound for now. Click anywhere.' }));
    }
  }

  async function start(entry: EntryPoint): Promise<void> {
    if (state.phase === 'connecting' || state.phase === 'talking') return;
    change({ ...fresh, phase: 'connecting' });
    const attempt = ++attempts;
    const isCurrent = () => attempt === attempts;
    let own: PipecatClient | null = null;
    const leave = () => void own?.disconnect().catch(() => {});
    const failed = (error: unknown) => {
      if (!isCurrent()) return;
      change({ phase: 'failed', speaking: 'nobody', video: null, error: sentence(error) });
      leave();
    };
    try {
      await allowDevices();
      const transport = await entry.create();
      if (!isCurrent()) return;
      own = new PipecatClient({
        transport,
        enableMic: true,
        enableCam: camera,
        callbacks: {
          onBotReady: () => isCurrent() && change({ phase: 'talking' }),
          onDisconnected: () => isCurrent() && ended(),
          onUserStartedSpeaking: () => change({ speaking: 'you' }),
          onUserStoppedSpeaking: () => change({ speaking: 'nobody' }),
          onBotStartedSpeaking: () => change({ speaking: 'bot' }),
          onBotStoppedSpeaking: () => change({ speaking: 'nobody' }),
          onUserTranscript: ({ text, final }) => final && say({ who: 'you', text }),
          onBotOutput: botSaid,
          onTrackStarted: (track, participant) => participant?.local !== true && play(track),
          onTrackStopped: (track) => track === state.video && change({ video: null }),
          onDeviceError: failed,
          // Errors during the conversation are shown; only fatal ones end it.
          onError: ({ data }) => {
            const { fatal } = data as { fatal?: boolean };
            if (hasLeft(data) && isCurrent()) ended();
            else if (fatal !== false) failed(data);
            else change({ error: sentence(data) });
          },
        },
      });
      client = own;
      await connect(own, entry);
      if (!isCurrent()) leave();
    } catch (error) {
      failed(error);
      leave();
    }
  }

  function ended(): void {
    if (state.phase === 'failed') return;
    const reached = state.phase !== 'connecting';
    change({
      phase: reached ? 'ended' : 'failed',
      speaking: 'nobody',
      video: null,
      error: reached ? null : 'The connection failed.',
    });
  }

  return {
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start,
    stop: async () => {
      if (state.phase !== 'connecting' && state.phase !== 'talking') return;
      attempts += 1;
      change({ phase: 'ended', speaking: 'nobody', video: null });
      await client?.disconnect().catch(() => {});
    },
    setMicrophone: (on) => {
      client?.enableMic(on);
      change({ microphone: on });
    },
  };
}

/** Asks before a session is started, so that none is wasted on a page without a microphone. */
async function allowDevices(): Promise<void> {
  if (navigator.mediaDevices === undefined) {
    throw new Error(
      'Browsers allow the microphone only on pages at https:// addresses or on localhost.',
    );
  }
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: camera });
  for (const track of stream.getTracks()) track.stop();
}

async function connect(client: PipecatClient, entry: EntryPoint): Promise<void> {
  const request = {
    endpoint: startUrl,
    headers: new Headers(startHeaders),
    requestData: entry.request,
  };
  if (entry.name !== 'websocket') {
    await client.startBotAndConnect(request);
    return;
  }
  // This transport accepts nothing of the answer but where to connect.
  const answer = await client.startBot(request);
  const { wsUrl, token } = answer as { wsUrl: string; token?: string | null };
  await client.connect({ wsUrl, ...(token ? { token } : {}) });
}
