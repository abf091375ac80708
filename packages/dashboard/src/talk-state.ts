import type { BotOutputData } from '@pipecat-ai/client-js';

/** Where a conversation stands. The first four are those of the Pipecat client that a person can wait in. */
export type Phase = 'idle' | 'initializing' | 'authenticating' | 'connecting' | 'ready' | 'ended' | 'failed';

export interface Line {
  readonly id: number;
  readonly who: 'you' | 'bot';
  readonly text: string;
  /** Ties the parts of one line of the bot together; absent for lines that come whole. */
  readonly segment?: number;
  /** That somebody spoke is known, what was said is not (yet). */
  readonly wordless?: true;
}

export interface TalkState {
  readonly phase: Phase;
  readonly sessionId: string | undefined;
  readonly microphone: 'unknown' | 'on' | 'off' | 'none';
  readonly speaking: { readonly you: boolean; readonly bot: boolean };
  readonly lines: readonly Line[];
  readonly error: string | undefined;
}

export type TalkEvent =
  | { readonly type: 'phase'; readonly phase: Exclude<Phase, 'failed'> }
  | { readonly type: 'failed'; readonly error: string }
  | { readonly type: 'session'; readonly sessionId: string }
  | { readonly type: 'microphone'; readonly microphone: TalkState['microphone'] }
  | { readonly type: 'speaking'; readonly who: 'you' | 'bot'; readonly speaking: boolean }
  | { readonly type: 'you-said'; readonly text: string }
  | { readonly type: 'you-typed'; readonly text: string }
  | { readonly type: 'bot-said'; readonly output: BotOutputData };

export const freshTalk: TalkState = {
  phase: 'idle',
  sessionId: undefined,
  microphone: 'unknown',
  speaking: { you: false, bot: false },
  lines: [],
  error: undefined,
};

const nobody = { you: false, bot: false };

/** The next state after an event. Pure. */
export function nextTalk(state: TalkState, event: TalkEvent): TalkState {
  switch (event.type) {
    case 'phase':
      if (event.phase === 'initializing') return { ...freshTalk, phase: 'initializing' };
      return { ...state, phase: event.phase, ...(event.phase === 'ended' ? { speaking: nobody } : {}) };
    case 'failed':
      return { ...state, phase: 'failed', error: event.error, speaking: nobody };
    case 'session':
      return { ...state, sessionId: event.sessionId };
    case 'microphone':
      return { ...state, microphone: event.microphone };
    case 'speaking': {
      const speaking = { ...state.speaking, [event.who]: event.speaking };
      const finished = event.who === 'you' && state.speaking.you && !event.speaking;
      return finished
        ? { ...state, speaking, lines: withLine(state.lines, { who: 'you', text: 'You spoke', wordless: true }) }
        : { ...state, speaking };
    }
    case 'you-said': {
      const last = state.lines.at(-1);
      const before = last?.wordless ? state.lines.slice(0, -1) : state.lines;
      return { ...state, lines: withLine(before, { who: 'you', text: event.text }) };
    }
    case 'you-typed':
      return { ...state, lines: withLine(state.lines, { who: 'you', text: event.text }) };
    case 'bot-said':
      return { ...state, lines: withOutput(state.lines, event.output) };
  }
}

/** Bots tell a line when they plan it and again while they speak it (RTVI `bot-output`): one line on the page. */
function withOutput(lines: readonly Line[], output: BotOutputData): readonly Line[] {
  if (output.aggregated_by === 'word' || output.text.trim() === '') return lines;
  const segment = output.segment_id;
  if (segment === undefined) return withLine(lines, { who: 'bot', text: output.text });
  if (lines.some((line) => line.segment === segment)) {
    return lines.map((line) => (line.segment === segment ? { ...line, text: output.text } : line));
  }
  return withLine(lines, { who: 'bot', text: output.text, segment });
}

const mostLines = 500;

function withLine(lines: readonly Line[], line: Omit<Line, 'id'>): readonly Line[] {
  return [...lines.slice(1 - mostLines), { ...line, id: (lines.at(-1)?.id ?? 0) + 1 }];
}
