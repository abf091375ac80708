import type { BotOutputData } from '@pipecat-ai/client-js';

/** The phase of a conversation. The names up to `ready` are those of the Pipecat client. */
export type Phase = 'idle' | 'initializing' | 'authenticating' | 'connecting' | 'ready' | 'ended' | 'failed';

export interface Line {
  readonly id: number;
  readonly who: 'you' | 'bot';
  readonly text: string;
  /** Identifies the line that later updates of the bot change. Absent for lines that are never updated. */
  readonly segment?: number;
  /** Somebody spoke, but the transcript has not arrived yet. */
  readonly isWordless?: true;
}

export interface TalkState {
  readonly phase: Phase;
  readonly sessionId: string | undefined;
  readonly microphone: 'unknown' | 'on' | 'off' | 'none';
  readonly speaking: { readonly you: boolean; readonly bot: boolean };
  readonly lines: readonly Line[];
  readonly error: string | undefined;
  /** Errors that did not end the conversation, without duplicates. */
  readonly botErrors: readonly string[];
}

export type TalkEvent =
  | { readonly type: 'phase'; readonly phase: Exclude<Phase, 'failed'> }
  | { readonly type: 'failed'; readonly error: string }
  | { readonly type: 'bot-error'; readonly error: string }
  | { readonly type: 'session'; readonly sessionId: string }
  | { readonly type: 'microphone'; readonly microphone: TalkState['microphone'] }
  | { readonly type: 'speaking'; readonly who: 'you' | 'bot'; readonly speaking: boolean }
  | { readonly type: 'user-transcript'; readonly text: string }
  | { readonly type: 'user-text'; readonly text: string }
  | { readonly type: 'bot-output'; readonly output: BotOutputData };

export const initialTalk: TalkState = {
  phase: 'idle',
  sessionId: undefined,
  microphone: 'unknown',
  speaking: { you: false, bot: false },
  lines: [],
  error: undefined,
  botErrors: [],
};

const botErrorsAtMost = 3;
const nobody = { you: false, bot: false };

/** The reducer of a conversation. */
export function talkReducer(state: TalkState, event: TalkEvent): TalkState {
  switch (event.type) {
    case 'phase':
      if (event.phase === 'initializing') return { ...initialTalk, phase: 'initializing' };
      return { ...state, phase: event.phase, ...(event.phase === 'ended' ? { speaking: nobody } : {}) };
    case 'failed':
      return { ...state, phase: 'failed', error: event.error, speaking: nobody };
    case 'bot-error':
      return { ...state, botErrors: [...new Set([...state.botErrors, event.error])].slice(-botErrorsAtMost) };
    case 'session':
      return { ...state, sessionId: event.sessionId };
    case 'microphone':
      return { ...state, microphone: event.microphone };
    case 'speaking': {
      const speaking = { ...state.speaking, [event.who]: event.speaking };
      const finished = event.who === 'you' && state.speaking.you && !event.speaking;
      return finished
        ? { ...state, speaking, lines: withLine(state.lines, { who: 'you', text: 'You spoke', isWordless: true }) }
        : { ...state, speaking };
    }
    case 'user-transcript': {
      const last = state.lines.at(-1);
      const before = last?.isWordless ? state.lines.slice(0, -1) : state.lines;
      return { ...state, lines: withLine(before, { who: 'you', text: event.text }) };
    }
    case 'user-text':
      return { ...state, lines: withLine(state.lines, { who: 'you', text: event.text }) };
    case 'bot-output':
      return { ...state, lines: withOutput(state.lines, event.output) };
  }
}

/** Combine both into one line: a bot sends a line when it plans it and again while it speaks it (RTVI `bot-output`). */
function withOutput(lines: readonly Line[], output: BotOutputData): readonly Line[] {
  if (output.aggregated_by === 'word' || output.text.trim() === '') return lines;
  const segment = output.segment_id;
  if (segment === undefined) return withLine(lines, { who: 'bot', text: output.text });
  if (lines.some((line) => line.segment === segment)) {
    return lines.map((line) => (line.segment === segment ? { ...line, text: output.text } : line));
  }
  return withLine(lines, { who: 'bot', text: output.text, segment });
}

const linesAtMost = 500;

function withLine(lines: readonly Line[], line: Omit<Line, 'id'>): readonly Line[] {
  return [...lines.slice(1 - linesAtMost), { ...line, id: (lines.at(-1)?.id ?? 0) + 1 }];
}
