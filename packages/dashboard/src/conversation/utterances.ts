import type { ConversationSide } from '@bothost/contract';
import type { Turn } from './conversation.ts';

/** What one side said in a turn. */
export type Utterance = {
  readonly side: ConversationSide;
  /** Times are in milliseconds since the start of the session. `toMs` is null while the side is speaking. */
  readonly fromMs: number;
  readonly toMs: number | null;
  /** Null if the text is not stored, or not known yet. */
  readonly text: string | null;
  readonly isInterrupted: boolean;
  readonly isTyped: boolean;
};

/** What both sides said, in order of time. A side without text has one utterance that spans its speech. */
export function listUtterances({ said, speech, isInterrupted }: Turn): readonly Utterance[] {
  const utterances: Utterance[] = said.map(({ side, from, to, text, interrupted = false, typed = false }) => ({
    side,
    fromMs: from,
    toMs: to,
    text,
    isInterrupted: interrupted,
    isTyped: typed,
  }));
  for (const side of ['user', 'bot'] as const) {
    if (said.some((line) => line.side === side)) continue;
    const spans = speech.filter((line) => line.side === side);
    if (spans.length === 0) continue;
    const isSpeaking = spans.some(({ to }) => to === null);
    utterances.push({
      side,
      fromMs: Math.min(...spans.map(({ from }) => from)),
      toMs: isSpeaking ? null : Math.max(...spans.map(({ from, to }) => to ?? from)),
      text: null,
      isInterrupted: side === 'bot' && isInterrupted,
      isTyped: false,
    });
  }
  return utterances.toSorted((a, b) => a.fromMs - b.fromMs);
}
