import { type BotOutputData, PipecatClient, type PipecatMetricsData } from '@pipecat-ai/client-js';
import { camera, startHeaders, startUrl } from './config';
import { errorMessage, isNormalClose } from './error-messages';
import type { EntryPoint } from './transports';

export type TranscriptLine = {
  readonly id: number;
  readonly who: 'you' | 'bot';
  readonly text: string;
  /**
   * Identifies a line that the bot speaks. The bot sends each line twice with the same number:
   * before speaking and while speaking.
   */
  readonly segment?: number;
};

/** A session event that the page shows to developers. */
export type SessionEvent = { readonly id: number; readonly at: Date; readonly text: string };

export type ConversationState = {
  readonly phase: 'idle' | 'connecting' | 'talking' | 'ended' | 'failed';
  readonly speaking: 'you' | 'bot' | 'nobody';
  readonly microphone: boolean;
  /** The available microphones. The list is empty until the browser allows the page to use a microphone. */
  readonly microphones: readonly MediaDeviceInfo[];
  /** The chosen microphone; '' is the browser's default. */
  readonly microphoneId: string;
  readonly lines: readonly TranscriptLine[];
  readonly video: MediaStreamTrack | null;
  readonly error: string | null;
  /** The latest processing time and time to first output of each service, in milliseconds. */
  readonly metrics: Readonly<Record<string, number>>;
  /** The latest events, newest first. */
  readonly events: readonly SessionEvent[];
};

export type Conversation = {
  /** The current state. Returns the same object until the state changes. */
  readonly state: () => ConversationState;
  /** Calls the listener after each change, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly start: (entry: EntryPoint) => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly setMicrophone: (on: boolean) => void;
  /** Chooses the microphone of the next conversation. */
  readonly chooseMicrophone: (id: string) => void;
  /** Sends a typed message to the bot. */
  readonly sendText: (text: string) => Promise<void>;
};

const newConversation = {
  speaking: 'nobody',
  microphone: true,
  lines: [],
  video: null,
  error: null,
  metrics: {},
  events: [],
} as const;

export const initialState: ConversationState = {
  phase: 'idle',
  microphones: [],
  microphoneId: '',
  ...newConversation,
};

const maxEvents = 100;

/** Manages the conversations with the bot, one at a time, without any user interface. */
export function createConversation(): Conversation {
  let state = initialState;
  let client: PipecatClient | null = null;
  let attempts = 0;
  let eventCount = 0;
  const listeners = new Set<() => void>();
  const sound = typeof Audio === 'undefined' ? null : new Audio();
  // `mediaDevices` is undefined on a server that renders the page, and on pages without HTTPS.
  const devices = globalThis.navigator?.mediaDevices as MediaDevices | undefined;

  function update(part: Partial<ConversationState>): void {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  }

  function log(text: string): void {
    eventCount += 1;
    const event = { id: eventCount, at: new Date(), text };
    update({ events: [event, ...state.events].slice(0, maxEvents) });
  }

  function addLine(line: Omit<TranscriptLine, 'id'>): void {
    const same = state.lines.findIndex(
      ({ segment }) => segment !== undefined && segment === line.segment,
    );
    const id = (state.lines.at(-1)?.id ?? 0) + 1;
    update({
      lines:
        same === -1
          ? [...state.lines, { ...line, id }]
          : state.lines.map((old, index) => (index === same ? { ...old, text: line.text } : old)),
    });
  }

  function onBotOutput({ text, aggregated_by, segment_id }: BotOutputData): void {
    if (aggregated_by === 'word' || text.trim() === '') return;
    addLine({ who: 'bot', text, ...(segment_id === undefined ? {} : { segment: segment_id }) });
  }

  function onMetrics({ ttfb = [], processing = [] }: PipecatMetricsData): void {
    const metrics = { ...state.metrics };
    for (const { processor, value } of processing) {
      metrics[`${processor}, processing`] = Math.round(value * 1000);
    }
    for (const { processor, value } of ttfb) {
      metrics[`${processor}, first output`] = Math.round(value * 1000);
    }
    update({ metrics });
  }

  function onSpeaking(who: ConversationState['speaking']): void {
    update({ speaking: who });
    if (who !== 'nobody') log(who === 'you' ? 'You started speaking' : 'Bot started speaking');
  }

  async function listMicrophones(): Promise<void> {
    const all = (await devices?.enumerateDevices()) ?? [];
    // Without permission, browsers list devices without an id.
    const microphones = all.filter(
      ({ kind, deviceId }) => kind === 'audioinput' && deviceId !== '',
    );
    const isThere = microphones.some(({ deviceId }) => deviceId === state.microphoneId);
    update({ microphones, microphoneId: isThere ? state.microphoneId : '' });
  }

  function play(track: MediaStreamTrack): void {
    if (track.kind === 'video') update({ video: track });
    else if (sound !== null) {
      sound.srcObject = new MediaStream([track]);
      sound
        .play()
        .catch(() => update({ error: 'Your browser blocks sound until you click on the page.' }));
    }
  }

  async function start(entry: EntryPoint): Promise<void> {
    if (state.phase === 'connecting' || state.phase === 'talking') return;
    update({ ...newConversation, phase: 'connecting' });
    const attempt = ++attempts;
    const isCurrent = () => attempt === attempts;
    let own: PipecatClient | null = null;
    const disconnect = () => void own?.disconnect().catch(() => {});
    const fail = (error: unknown) => {
      if (!isCurrent()) return;
      const message = errorMessage(error);
      log(`Error: ${message}`);
      update({ phase: 'failed', speaking: 'nobody', video: null, error: message });
      disconnect();
    };
    try {
      await allowDevices();
      await listMicrophones();
      const { microphoneId } = state;
      const transport = await entry.create(microphoneId);
      if (!isCurrent()) return;
      own = new PipecatClient({
        transport,
        enableMic: true,
        enableCam: camera,
        callbacks: {
          onTransportStateChanged: (name) => isCurrent() && log(`Connection: ${name}`),
          onBotReady: () => {
            if (!isCurrent()) return;
            update({ phase: 'talking' });
            // Other transports than the peer-to-peer transport open the default microphone, so
            // switch to the chosen microphone.
            if (microphoneId !== '' && own?.selectedMic.deviceId !== microphoneId) {
              own?.updateMic(microphoneId);
            }
          },
          onDisconnected: () => isCurrent() && end(),
          onUserStartedSpeaking: () => onSpeaking('you'),
          onUserStoppedSpeaking: () => onSpeaking('nobody'),
          onBotStartedSpeaking: () => onSpeaking('bot'),
          onBotStoppedSpeaking: () => onSpeaking('nobody'),
          onUserTranscript: ({ text, final }) => final && addLine({ who: 'you', text }),
          onBotOutput,
          onMetrics,
          onServerMessage: (message) => log(`Message: ${JSON.stringify(message)}`),
          onTrackStarted: (track, participant) => participant?.local !== true && play(track),
          onTrackStopped: (track) => track === state.video && update({ video: null }),
          onDeviceError: fail,
          // Show errors during the conversation. Only fatal errors end the conversation.
          onError: ({ data }) => {
            const { fatal } = data as { fatal?: boolean };
            if (isNormalClose(data) && isCurrent()) end();
            else if (fatal !== false) fail(data);
            else {
              log(`Error: ${errorMessage(data)}`);
              update({ error: errorMessage(data) });
            }
          },
        },
      });
      client = own;
      await connect(own, entry);
      if (!isCurrent()) disconnect();
    } catch (error) {
      fail(error);
      disconnect();
    }
  }

  function end(): void {
    if (state.phase === 'failed') return;
    const wasConnected = state.phase !== 'connecting';
    update({
      phase: wasConnected ? 'ended' : 'failed',
      speaking: 'nobody',
      video: null,
      error: wasConnected ? null : 'The connection failed.',
    });
  }

  devices?.addEventListener('devicechange', () => void listMicrophones());
  void listMicrophones();
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
      log('You hung up');
      update({ phase: 'ended', speaking: 'nobody', video: null });
      await client?.disconnect().catch(() => {});
    },
    setMicrophone: (on) => {
      client?.enableMic(on);
      update({ microphone: on });
    },
    chooseMicrophone: (microphoneId) => update({ microphoneId }),
    sendText: async (text) => {
      if (state.phase !== 'talking' || text.trim() === '') return;
      addLine({ who: 'you', text });
      await client?.sendText(text).catch((error) => update({ error: errorMessage(error) }));
    },
  };
}

/** Requests permission for the devices, so that no session starts without a microphone. */
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
  // The WebSocket transport accepts only the fields `wsUrl` and `token` of the response.
  const response = await client.startBot(request);
  const { wsUrl, token } = response as { wsUrl: string; token?: string | null };
  await client.connect({ wsUrl, ...(token ? { token } : {}) });
}
