import { ApiError, ConnectionError, ErrorResponse, getObjectFields, type StartResponse } from '@bothost/contract';
import { LogLevel, logger, PipecatClient, RTVIEvent } from '@pipecat-ai/client-js';
import type { LoudnessTracker } from './levels.ts';
import { type SessionAccess, startAuthorizedSession } from './session-access.ts';
import type { LocalVideo, TalkEvent, TalkState } from './talk-state.ts';
import type { TransportName } from './transport-names.ts';
import type { ConnectableTransport } from './transports.ts';

type Unstamped<Event> = Event extends TalkEvent ? Omit<Event, 'at'> : never;

export type TalkOptions = {
  readonly agent: string;
  readonly access: SessionAccess;
  readonly transport: TransportName;
  /** Device ids. An empty id means the browser's default device. */
  readonly microphoneId: string;
  readonly speakerId: string;
  readonly levels: { readonly you: LoudnessTracker; readonly bot: LoudnessTracker };
  readonly onEvent: (event: TalkEvent) => void;
};

export type TalkSession = {
  readonly sendText: (text: string) => void;
  readonly setMicrophone: (on: boolean) => void;
  readonly selectMicrophone: (id: string) => void;
  readonly selectSpeaker: (id: string) => void;
  /** Starts or stops sending video, or switches cameras. An empty `cameraId` selects the default camera. */
  readonly setVideo: (source: LocalVideo, isOn: boolean, cameraId: string) => void;
  readonly end: () => void;
};

logger.setLevel(LogLevel.WARN);

/** Events that the panel omits: audio levels, which the page measures, and media tracks, which people cannot read. */
const unloggedEvents: ReadonlySet<string> = new Set([
  RTVIEvent.LocalAudioLevel,
  RTVIEvent.RemoteAudioLevel,
  RTVIEvent.TrackStarted,
  RTVIEvent.TrackStopped,
  RTVIEvent.AvailableCamsUpdated,
  RTVIEvent.AvailableMicsUpdated,
  RTVIEvent.AvailableSpeakersUpdated,
  RTVIEvent.MediaStateUpdated,
]);

/** Starts a session of an agent and connects to it. Reports everything, including failures, through `onEvent`. */
export function startTalkSession(options: TalkOptions): TalkSession {
  const emit = (event: Unstamped<TalkEvent>) => options.onEvent({ ...event, at: Date.now() } as TalkEvent);
  let connection: { readonly client: PipecatClient; readonly transport: ConnectableTransport } | undefined;
  let isOver = false;

  function finish(event: Unstamped<TalkEvent>): void {
    if (isOver) return;
    isOver = true;
    emit(event);
    if (connection !== undefined) close(connection.client, connection.transport);
  }

  async function run(): Promise<void> {
    emit({ type: 'phase', phase: 'initializing' });
    const { createTransport } = await import('./transports.ts');
    const transport = await createTransport(options.transport, options);
    if (isOver) return;
    const client = createPipecatClient(transport, emit, finish);
    connection = { client, transport };
    await connect(client, transport, options, emit, () => isOver);
  }
  run().catch((cause: unknown) => finish({ type: 'failed', error: messageOf(cause) }));

  async function setVideo(source: LocalVideo, isOn: boolean, cameraId: string): Promise<void> {
    const video = connection?.transport.video;
    if (!isOn) {
      await video?.stop(source);
      emit({ type: 'video', source });
      return;
    }
    const track = await video?.start(source, cameraId);
    if (track === undefined || isOver) return;
    // A video track can also end without a click on this page: the browser has its own button to stop screen sharing, and a
    // camera can be unplugged.
    track.addEventListener('ended', () => void setVideo(source, false, cameraId).catch(() => {}));
    emit({ type: 'video', source, track });
  }

  return {
    sendText: (text) => {
      emit({ type: 'user-text', text });
      connection?.client.sendText(text, { run_immediately: true, audio_response: true }).catch(() => {});
    },
    setMicrophone: (on) => {
      connection?.client.enableMic(on);
      emit({ type: 'microphone', microphone: on ? 'on' : 'off' });
    },
    selectMicrophone: (id) => void connection?.transport.selectMicrophone(id).catch(() => {}),
    selectSpeaker: (id) => void connection?.transport.selectSpeaker(id).catch(() => {}),
    setVideo: (source, isOn, cameraId) =>
      void setVideo(source, isOn, cameraId).catch((cause: unknown) => {
        const problem = problemWithVideo(source, cause);
        if (!isOver && problem !== undefined) emit({ type: 'video-failed', problem });
      }),
    end: () => finish({ type: 'phase', phase: 'ended' }),
  };
}

type Emit = (event: Unstamped<TalkEvent>) => void;

function createPipecatClient(
  { transport, playTrack, video }: ConnectableTransport,
  emit: Emit,
  finish: Emit,
): PipecatClient {
  const client: PipecatClient = new PipecatClient({
    transport,
    // `connect` opens the microphone itself, and recording starts when the bot is ready. With `enableMic: true`, the client
    // would open the microphone twice, and could not connect on a machine without a microphone.
    enableMic: false,
    callbacks: {
      onBotReady: () => {
        if (client.tracks().local.audio !== undefined) client.enableMic(true);
        emit({ type: 'phase', phase: 'ready' });
        emit({ type: 'video-accepted', sources: video?.accepted() ?? [] });
      },
      onUserStartedSpeaking: () => emit({ type: 'speaking', who: 'you', speaking: true }),
      onUserStoppedSpeaking: () => emit({ type: 'speaking', who: 'you', speaking: false }),
      onBotStartedSpeaking: () => emit({ type: 'speaking', who: 'bot', speaking: true }),
      onBotStoppedSpeaking: () => emit({ type: 'speaking', who: 'bot', speaking: false }),
      onUserTranscript: ({ text, final }) => emit({ type: 'user-transcript', text, isFinal: final }),
      onBotOutput: (output) => emit({ type: 'bot-output', output }),
      onLLMFunctionCallInProgress: ({ tool_call_id: callId, function_name: name = 'Tool' }) =>
        emit({ type: 'tool-call', callId, name }),
      onLLMFunctionCallStopped: ({ tool_call_id: callId, cancelled }) =>
        emit({ type: 'tool-result', callId, isCanceled: cancelled }),
      onMetrics: ({ ttfb = [] }) => emit({ type: 'service-times', times: ttfb }),
      onTrackStarted: (track, participant) => {
        if (participant?.local === true) return;
        if (track.kind === 'audio') playTrack?.(track);
        else emit({ type: 'video', source: 'bot', track });
      },
      onTrackStopped: (track, participant) => {
        if (participant?.local !== true && track.kind === 'video') emit({ type: 'video', source: 'bot' });
      },
      onBotDisconnected: () => finish({ type: 'phase', phase: 'ended' }),
      onError: ({ data }) => {
        const { text, isOfBot, isFatal } = readError(data);
        if (isOfBot || !isFatal) emit({ type: 'bot-error', error: text });
        if (isFatal) finish(isOfBot ? { type: 'failed', error: 'An error ended the bot.' } : endOf(text));
      },
    },
  });
  for (const name of Object.values(RTVIEvent)) {
    if (!unloggedEvents.has(name)) client.on(name, (data?: unknown) => emit({ type: 'message', name, data }));
  }
  return client;
}

async function connect(
  client: PipecatClient,
  transport: ConnectableTransport,
  options: TalkOptions,
  emit: Emit,
  isOver: () => boolean,
): Promise<void> {
  if (!globalThis.isSecureContext) {
    throw new Error(
      'The browser does not allow the microphone on this address. Open the page over HTTPS or on localhost.',
    );
  }
  // Ignore the error, because a conversation is also possible without a microphone.
  await client.initDevices().catch(() => {});
  if (options.microphoneId !== '') await transport.selectMicrophone(options.microphoneId);
  if (options.speakerId !== '') await transport.selectSpeaker(options.speakerId);
  emit({ type: 'microphone', microphone: await stateOfMicrophone(client) });
  if (isOver()) return;

  emit({ type: 'phase', phase: 'authenticating' });
  const { agent, access } = options;
  const { started, credential } = await startAuthorizedSession(access, agent, transport.startRequest);
  if (started.sessionId !== undefined) emit({ type: 'session', sessionId: started.sessionId });
  if (isOver()) return;

  emit({ type: 'phase', phase: 'connecting' });
  const parameters = transport.connectionParameters(started, { agent, credential });
  await client.connect(parameters).catch(async (cause: unknown) => {
    throw /connect to websocket/.test(String(cause)) ? await refusalOf(started) : cause;
  });
}

/**
 * Returns `on` if the microphone is open, `none` if there is no microphone, or `denied` if the person or the browser refused
 * access.
 */
async function stateOfMicrophone(client: PipecatClient): Promise<TalkState['microphone']> {
  if (client.tracks().local.audio !== undefined) return 'on';
  const devices = await navigator.mediaDevices.enumerateDevices();
  return devices.some(({ kind }) => kind === 'audioinput') ? 'denied' : 'none';
}

/** Returns why the camera or the screen cannot be sent. Undefined if the person decided not to share a screen. */
function problemWithVideo(source: LocalVideo, cause: unknown): string | undefined {
  const name = cause instanceof DOMException ? cause.name : undefined;
  if (source === 'screen') {
    return name === 'NotAllowedError' ? undefined : `The screen cannot be shared: ${messageOf(cause)}`;
  }
  if (name === 'NotAllowedError') {
    return 'The browser blocks the camera for this page. To allow it, open the site settings beside the address of the page, and try again.';
  }
  return name === 'NotFoundError' ? 'No camera found.' : `The camera cannot be opened: ${messageOf(cause)}`;
}

function close(client: PipecatClient, transport: ConnectableTransport): void {
  const microphone = client.tracks().local.audio;
  client.disconnect().catch(() => {});
  microphone?.stop();
  transport.close();
}

/**
 * Returns the error with which the service refused a WebSocket. Browsers hide the HTTP response to a refused WebSocket, so this
 * function sends a plain HTTP request with the same token. Its response contains the message.
 */
async function refusalOf({ wsUrl, token }: StartResponse): Promise<Error> {
  const { origin } = location;
  const url = new URL(new URL(wsUrl ?? origin).pathname, origin);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers }).catch(() => null);
  const { data } = ErrorResponse.safeParse(await response?.json().catch(() => null));
  const isKnown = data !== undefined && data.reason !== 'upgrade-required';
  return new Error(
    isKnown ? data.error : 'The service did not accept the WebSocket. The session record contains the reason.',
  );
}

/** Reads the data of an error. Errors of the bot have the field `error`, and errors of the transport have the field `message`. */
function readError(data: unknown): { readonly text: string; readonly isOfBot: boolean; readonly isFatal: boolean } {
  const { error, message, fatal } = getObjectFields(data);
  return {
    text: String(message ?? error ?? 'The connection failed.'),
    isOfBot: message == null && error != null,
    isFatal: fatal === true,
  };
}

/**
 * Converts an error of the transport to an event. The transport reports even a normal close of its WebSocket as an error, with
 * the close code 1000 or 1001 in the message. Such an error becomes the end of the conversation.
 */
function endOf(text: string): Unstamped<TalkEvent> {
  const code = /closed\. Code: (\d+)/.exec(text)?.[1];
  if (code === '1000' || code === '1001') return { type: 'phase', phase: 'ended' };
  // With 1011, a server says that it failed (RFC 6455, section 7.4.1).
  if (code === '1011') return { type: 'failed', error: 'The bot failed.' };
  return { type: 'failed', error: code === undefined ? text : `The connection to the bot was lost (code ${code}).` };
}

function messageOf(cause: unknown): string {
  if (cause instanceof ApiError || cause instanceof ConnectionError) return cause.message;
  const text = cause instanceof Error ? cause.message : String(cause);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
