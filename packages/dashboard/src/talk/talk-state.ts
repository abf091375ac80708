import type { BotOutputData, PipecatMetricData } from '@pipecat-ai/client-js';
import { addBotError, type BotError } from './bot-errors.ts';

/** The phase of a conversation. The names up to `ready` are those of the Pipecat client. */
export type ConversationPhase =
  | 'idle'
  | 'initializing'
  | 'authenticating'
  | 'connecting'
  | 'ready'
  | 'ended'
  | 'failed';

export type TranscriptLine = SpokenLine | ToolCallLine;

type SpokenLine = {
  readonly id: number;
  readonly at: number;
  readonly who: 'you' | 'bot';
  readonly text: string;
  /** Of the first line of a reply: milliseconds from the end of the person's turn to the first sign of the reply. */
  readonly latencyMs?: number;
  /** Id of the line. Later messages from the bot with this id update the line. Absent if the line is never updated. */
  readonly segment?: number;
  /** True for speech whose transcript has not arrived yet. */
  readonly isWordless?: true;
};

type ToolCallLine = {
  readonly id: number;
  readonly at: number;
  readonly who: 'tool';
  readonly callId: string;
  /** The name of the called function. */
  readonly text: string;
  readonly state: 'running' | 'completed' | 'canceled';
  readonly durationMs?: number;
};

/** The video that a person can send. */
export type LocalVideo = 'camera' | 'screen';
export type VideoSource = LocalVideo | 'bot';

/** A message of the RTVI protocol, or an event of the connection. */
export type LoggedEvent = {
  readonly id: number;
  readonly at: number;
  readonly name: string;
  readonly data: unknown;
};

/** All times are in milliseconds since the Unix epoch. */
export type TalkState = {
  readonly phase: ConversationPhase;
  readonly startedAt: number | undefined;
  readonly readyAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly sessionId: string | undefined;
  readonly microphone: 'unknown' | 'on' | 'off' | 'none' | 'denied';
  readonly speaking: { readonly you: boolean; readonly bot: boolean };
  /** The kinds of video that the bot accepts. The page offers only these. */
  readonly acceptedVideo: readonly LocalVideo[];
  readonly video: Readonly<Partial<Record<VideoSource, MediaStreamTrack>>>;
  /** The error of the last attempt to open the camera or the screen. */
  readonly videoProblem: string | undefined;
  readonly lines: readonly TranscriptLine[];
  /** The interim transcript of the person's current speech. Empty after the final transcript has arrived. */
  readonly interim: string;
  /** Time at which the person's turn ended. Undefined if the bot has replied or the person is speaking. */
  readonly turnEndedAt: number | undefined;
  /** The latency of a reply whose first line has not arrived yet, in milliseconds. */
  readonly pendingLatencyMs: number | undefined;
  readonly latenciesMs: readonly number[];
  /** Times to the first byte of each service, in milliseconds. */
  readonly serviceTimesMs: ReadonlyMap<string, readonly number[]>;
  readonly events: readonly LoggedEvent[];
  readonly error: string | undefined;
  /** Errors that the bot reported, each listed once. */
  readonly botErrors: readonly BotError[];
};

type TalkEventBody =
  | { readonly type: 'phase'; readonly phase: Exclude<ConversationPhase, 'failed'> }
  | { readonly type: 'failed'; readonly error: string }
  | { readonly type: 'bot-error'; readonly error: string }
  | { readonly type: 'session'; readonly sessionId: string }
  | { readonly type: 'microphone'; readonly microphone: TalkState['microphone'] }
  | { readonly type: 'speaking'; readonly who: 'you' | 'bot'; readonly speaking: boolean }
  | { readonly type: 'video-accepted'; readonly sources: readonly LocalVideo[] }
  /** An event without `track` means that the video has ended. */
  | { readonly type: 'video'; readonly source: VideoSource; readonly track?: MediaStreamTrack }
  | { readonly type: 'video-failed'; readonly problem: string }
  | { readonly type: 'user-transcript'; readonly text: string; readonly isFinal: boolean }
  | { readonly type: 'user-text'; readonly text: string }
  | { readonly type: 'bot-output'; readonly output: BotOutputData }
  | { readonly type: 'tool-call'; readonly callId: string; readonly name: string }
  | { readonly type: 'tool-result'; readonly callId: string; readonly isCanceled: boolean }
  | { readonly type: 'service-times'; readonly times: readonly PipecatMetricData[] }
  | { readonly type: 'message'; readonly name: string; readonly data: unknown };

export type TalkEvent = TalkEventBody & { readonly at: number };

export const initialTalkState: TalkState = {
  phase: 'idle',
  startedAt: undefined,
  readyAt: undefined,
  endedAt: undefined,
  sessionId: undefined,
  microphone: 'unknown',
  speaking: { you: false, bot: false },
  acceptedVideo: [],
  video: {},
  videoProblem: undefined,
  lines: [],
  interim: '',
  turnEndedAt: undefined,
  pendingLatencyMs: undefined,
  latenciesMs: [],
  serviceTimesMs: new Map(),
  events: [],
  error: undefined,
  botErrors: [],
};

const eventsAtMost = 500;
const linesAtMost = 500;
const over = {
  speaking: { you: false, bot: false },
  acceptedVideo: [],
  video: {},
  videoProblem: undefined,
  interim: '',
  turnEndedAt: undefined,
};

export function talkReducer(state: TalkState, event: TalkEvent): TalkState {
  const { at } = event;
  switch (event.type) {
    case 'phase':
      if (event.phase === 'initializing') return { ...initialTalkState, phase: 'initializing', startedAt: at };
      if (event.phase === 'ended') return { ...state, ...over, phase: 'ended', endedAt: at };
      return { ...state, phase: event.phase, readyAt: event.phase === 'ready' ? at : state.readyAt };
    case 'failed':
      return { ...state, ...over, phase: 'failed', endedAt: at, error: event.error };
    case 'bot-error':
      return { ...state, botErrors: addBotError(state.botErrors, event.error) };
    case 'session':
      return { ...state, sessionId: event.sessionId };
    case 'microphone':
      return { ...state, microphone: event.microphone };
    case 'speaking': {
      const speaking = { ...state.speaking, [event.who]: event.speaking };
      if (event.who === 'bot') return event.speaking ? { ...withReply(state, at), speaking } : { ...state, speaking };
      const isFinished = state.speaking.you && !event.speaking;
      if (!isFinished) return { ...state, speaking, turnEndedAt: undefined };
      const lines = withLine(state.lines, { at, who: 'you', text: 'You spoke', isWordless: true });
      return { ...state, speaking, lines, turnEndedAt: at };
    }
    case 'video-accepted':
      return { ...state, acceptedVideo: event.sources };
    case 'video': {
      const { [event.source]: _previous, ...others } = state.video;
      const video = event.track === undefined ? others : { ...others, [event.source]: event.track };
      return { ...state, video, videoProblem: undefined };
    }
    case 'video-failed':
      return { ...state, videoProblem: event.problem };
    case 'user-transcript': {
      if (!event.isFinal) return { ...state, interim: event.text };
      const last = state.lines.at(-1);
      const before = last?.who === 'you' && last.isWordless ? state.lines.slice(0, -1) : state.lines;
      return { ...state, interim: '', lines: withLine(before, { at, who: 'you', text: event.text }) };
    }
    case 'user-text':
      return { ...state, lines: withLine(state.lines, { at, who: 'you', text: event.text }), turnEndedAt: at };
    case 'bot-output':
      return withOutput(withReply(state, at), event.output, at);
    case 'tool-call': {
      const { callId, name } = event;
      return { ...state, lines: withLine(state.lines, { at, who: 'tool', callId, text: name, state: 'running' }) };
    }
    case 'tool-result': {
      const end = { state: event.isCanceled ? 'canceled' : 'completed' } as const;
      const lines = state.lines.map((line) =>
        line.who === 'tool' && line.callId === event.callId ? { ...line, ...end, durationMs: at - line.at } : line,
      );
      return { ...state, lines };
    }
    case 'service-times': {
      const serviceTimesMs = new Map(state.serviceTimesMs);
      for (const { processor, value } of event.times)
        if (value > 0) serviceTimesMs.set(processor, [...(serviceTimesMs.get(processor) ?? []), value * 1_000]);
      return { ...state, serviceTimesMs };
    }
    case 'message': {
      const logged = { id: (state.events.at(-1)?.id ?? 0) + 1, at, name: event.name, data: event.data };
      return { ...state, events: [...state.events.slice(1 - eventsAtMost), logged] };
    }
  }
}

/** Records the latency at the first sign of a reply: speech or, for a bot that does not report its speech, text. */
function withReply(state: TalkState, at: number): TalkState {
  if (state.turnEndedAt === undefined) return state;
  const latencyMs = at - state.turnEndedAt;
  return {
    ...state,
    turnEndedAt: undefined,
    pendingLatencyMs: latencyMs,
    latenciesMs: [...state.latenciesMs, latencyMs],
  };
}

/** Adds or updates a line of the bot, which sends each line twice (RTVI `bot-output`): before and while speaking it. */
function withOutput(state: TalkState, output: BotOutputData, at: number): TalkState {
  const { lines, pendingLatencyMs } = state;
  const { text, segment_id: segment } = output;
  if (output.aggregated_by === 'word' || text.trim() === '') return state;
  const isUpdated = (line: TranscriptLine) => segment !== undefined && line.who === 'bot' && line.segment === segment;
  if (lines.some(isUpdated)) {
    return { ...state, lines: lines.map((line) => (isUpdated(line) ? { ...line, text } : line)) };
  }
  const line = {
    at,
    who: 'bot',
    text,
    ...(segment === undefined ? {} : { segment }),
    ...(pendingLatencyMs === undefined ? {} : { latencyMs: pendingLatencyMs }),
  } as const;
  return { ...state, lines: withLine(lines, line), pendingLatencyMs: undefined };
}

type WithoutId<Line> = Line extends TranscriptLine ? Omit<Line, 'id'> : never;

function withLine(lines: readonly TranscriptLine[], line: WithoutId<TranscriptLine>): readonly TranscriptLine[] {
  return [...lines.slice(1 - linesAtMost), { ...line, id: (lines.at(-1)?.id ?? 0) + 1 }];
}
