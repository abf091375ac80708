import type { BotOutputData } from '@pipecat-ai/client-js';

/** The phase of a conversation. The names up to `ready` are those of the Pipecat client. */
export type ConversationPhase =
  | 'idle'
  | 'initializing'
  | 'authenticating'
  | 'connecting'
  | 'ready'
  | 'ended'
  | 'failed';

export type TranscriptLine = {
  readonly id: number;
  readonly at: number;
  readonly who: 'you' | 'bot';
  readonly text: string;
  /** Id of the line. Later messages from the bot with this id update the line. Absent if the line is never updated. */
  readonly segment?: number;
  /** True for speech whose transcript has not arrived yet. */
  readonly isWordless?: true;
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
  /** The current media track of each video that is sent or received. */
  readonly video: Readonly<Partial<Record<VideoSource, MediaStreamTrack>>>;
  /** The error of the last attempt to open the camera or the screen. */
  readonly videoProblem: string | undefined;
  readonly lines: readonly TranscriptLine[];
  /** The interim transcript of the person's current speech. Empty after the final transcript has arrived. */
  readonly interim: string;
  /** Time at which the person's turn ended. Undefined if the bot has replied or the person is speaking. */
  readonly turnEndedAt: number | undefined;
  /** Milliseconds from the end of the person's last turn to the first sign of the bot's reply. */
  readonly latencyMs: number | undefined;
  readonly events: readonly LoggedEvent[];
  readonly error: string | undefined;
  /** Errors that did not end the conversation, each listed once. */
  readonly botErrors: readonly string[];
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
  latencyMs: undefined,
  events: [],
  error: undefined,
  botErrors: [],
};

const botErrorsAtMost = 3;
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

/** Returns the state of a conversation after an event. */
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
      return { ...state, botErrors: [...new Set([...state.botErrors, event.error])].slice(-botErrorsAtMost) };
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
      const before = last?.isWordless ? state.lines.slice(0, -1) : state.lines;
      return { ...state, interim: '', lines: withLine(before, { at, who: 'you', text: event.text }) };
    }
    case 'user-text':
      return { ...state, lines: withLine(state.lines, { at, who: 'you', text: event.text }), turnEndedAt: at };
    case 'bot-output':
      return { ...withReply(state, at), lines: withOutput(state.lines, event.output, at) };
    case 'message': {
      const logged = { id: (state.events.at(-1)?.id ?? 0) + 1, at, name: event.name, data: event.data };
      return { ...state, events: [...state.events.slice(1 - eventsAtMost), logged] };
    }
  }
}

/** Records the latency at the first sign of a reply: speech or, for a bot that does not report its speech, text. */
function withReply(state: TalkState, at: number): TalkState {
  if (state.turnEndedAt === undefined) return state;
  return { ...state, latencyMs: at - state.turnEndedAt, turnEndedAt: undefined };
}

/**
 * Adds or updates a line of the bot. A bot sends each line twice (RTVI `bot-output`): before speaking the line and while
 * speaking it.
 */
function withOutput(lines: readonly TranscriptLine[], output: BotOutputData, at: number): readonly TranscriptLine[] {
  if (output.aggregated_by === 'word' || output.text.trim() === '') return lines;
  const segment = output.segment_id;
  if (segment === undefined) return withLine(lines, { at, who: 'bot', text: output.text });
  if (lines.some((line) => line.segment === segment)) {
    return lines.map((line) => (line.segment === segment ? { ...line, text: output.text } : line));
  }
  return withLine(lines, { at, who: 'bot', text: output.text, segment });
}

function withLine(lines: readonly TranscriptLine[], line: Omit<TranscriptLine, 'id'>): readonly TranscriptLine[] {
  return [...lines.slice(1 - linesAtMost), { ...line, id: (lines.at(-1)?.id ?? 0) + 1 }];
}
