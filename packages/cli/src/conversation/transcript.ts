import type { ConversationLine, ConversationLineOf, ResponseOrigin } from '@bothost/contract';
import { getConversationLineKey } from '@bothost/contract/conversation-line-key';
import { describeRecordingEnd } from '@bothost/contract/conversation-recording-end';
import { formatCount } from '@bothost/contract/format-count';

/** One entry of a transcript, in the order in which it is shown. Times are milliseconds since the session's start. */
export type TranscriptEntry = {
  readonly from: number;
  readonly who: 'caller' | 'bot' | 'tool' | 'error';
  readonly text: string;
  /** The response time of a bot's entry, or the duration of a tool call. Null if there is none. */
  readonly ms: number | null;
  readonly measuredFrom: ResponseOrigin | null;
  readonly isInterrupted: boolean;
  readonly isFailure: boolean;
};

export type Transcript = {
  /** Adds the next line of the conversation, and returns the entries that are complete now. */
  readonly add: (line: ConversationLine) => readonly TranscriptEntry[];
  /** Returns the entries that no further line will complete. */
  readonly end: () => readonly TranscriptEntry[];
};

type Speech = ConversationLineOf<'speech'>;

/**
 * Creates a transcript of the lines of a conversation, in their order. Each text, tool call and error becomes one entry as soon as
 * it has ended. Speech becomes an entry only if no text of this side follows in the same turn. `hasText` is false if the lines
 * contain no texts: all speech then becomes an entry at its end.
 */
export function createTranscript(hasText: boolean): Transcript {
  const responses = new Map<number, ConversationLineOf<'response'>>();
  const running = new Map<string, ConversationLineOf<'said' | 'tool'>>();
  const speech = new Map<string, Speech>();
  const textTurns = new Set<string>();
  const shown = new Set<string>();

  function takeResponse(turn: number | undefined): Pick<TranscriptEntry, 'ms' | 'measuredFrom'> {
    const response = turn === undefined ? undefined : responses.get(turn);
    if (turn !== undefined) responses.delete(turn);
    return { ms: response?.ms ?? null, measuredFrom: response?.measuredFrom ?? null };
  }

  function showSpoken(side: Speech['side'], turn: number | undefined, from: number, text: string): TranscriptEntry {
    const response = side === 'bot' ? takeResponse(turn) : { ms: null, measuredFrom: null };
    return { from, who: side === 'bot' ? 'bot' : 'caller', text, ...response, isInterrupted: false, isFailure: false };
  }

  /** Removes the speech that `isDue` from the map, and returns entries for speech without text. */
  function takeSpeech(isDue: (line: Speech) => boolean): readonly TranscriptEntry[] {
    return [...speech].flatMap(([key, line]) => {
      if (!isDue(line)) return [];
      speech.delete(key);
      if (textTurns.has(`${line.side} ${line.turn}`)) return [];
      const text = line.to === null ? '(speaks)' : `(speaks for ${((line.to - line.from) / 1000).toFixed(1)} s)`;
      return [showSpoken(line.side, line.turn, line.from, text)];
    });
  }

  function showSaid(line: ConversationLineOf<'said'>): readonly TranscriptEntry[] {
    textTurns.add(`${line.side} ${line.turn}`);
    const before = takeSpeech(({ side, turn = 0, to }) =>
      turn < line.turn ? true : turn === line.turn && (side === 'user' || line.side === 'bot') && to !== null,
    );
    const entry = showSpoken(line.side, line.turn, line.from, line.text);
    return [...before, { ...entry, isInterrupted: line.interrupted === true }];
  }

  function showLine(line: ConversationLine): readonly TranscriptEntry[] {
    switch (line.kind) {
      case 'said':
        return showSaid(line);
      case 'tool':
        return [showTool(line)];
      case 'error':
        return [{ ...plainEntry, from: line.at, who: 'error', text: describeError(line), isFailure: true }];
      case 'recording':
        return [{ ...plainEntry, from: line.at, who: 'error', text: describeRecordingEnd(line), isFailure: true }];
      case 'dropped':
        return [{ ...plainEntry, from: line.at, who: 'error', text: describeDropped(line), isFailure: true }];
      default:
        return [];
    }
  }

  return {
    add: (line) => {
      const key = getConversationLineKey(line) ?? '';
      if (line.kind === 'response') responses.set(line.turn, line);
      if (line.kind === 'turn') return takeSpeech(({ turn = 0, to }) => turn < line.turn && to !== null);
      if (line.kind === 'speech') {
        speech.set(key, line);
        return hasText ? [] : takeSpeech(({ to }) => to !== null);
      }
      const isRunning = (line.kind === 'said' || line.kind === 'tool') && line.to === null;
      if (isRunning) running.set(key, line);
      if (isRunning || (key !== '' && shown.has(key))) return [];
      running.delete(key);
      if (key !== '') shown.add(key);
      return showLine(line);
    },
    end: () => {
      const last = [...running.values()].flatMap(showLine);
      running.clear();
      return [...last, ...takeSpeech(() => true)];
    },
  };
}

/**
 * Returns all entries of a conversation, ordered by their beginning. Of lines with the same key, only the last one counts.
 */
export function listTranscriptEntries(
  lines: readonly ConversationLine[],
  hasText: boolean,
): readonly TranscriptEntry[] {
  const transcript = createTranscript(hasText);
  const entries = mergeConversationLines(lines).flatMap((line) => transcript.add(line));
  return [...entries, ...transcript.end()].sort((a, b) => a.from - b.from);
}

/** Replaces lines by later ones with the same key. The result is in the order of the last lines. */
export function mergeConversationLines(lines: readonly ConversationLine[]): readonly ConversationLine[] {
  const merged = new Map<string, ConversationLine>();
  for (const [index, line] of lines.entries()) {
    const key = getConversationLineKey(line) ?? `line ${index}`;
    merged.delete(key);
    merged.set(key, line);
  }
  return [...merged.values()];
}

const plainEntry = { ms: null, measuredFrom: null, isInterrupted: false } as const;

function showTool({ name, state, from, to, arguments: input, result, message }: ConversationLineOf<'tool'>) {
  const call = `${name}(${input === undefined ? '' : input})`;
  const outcome = message ?? result;
  const text = `${call} ${state}${outcome === undefined ? '' : `: ${outcome}`}`;
  const isFailure = state === 'failed' || state === 'timed-out';
  return { ...plainEntry, from, who: 'tool', text, ms: to === null ? null : to - from, isFailure } as const;
}

function describeError({ service, category, exceptionType, message }: ConversationLineOf<'error'>): string {
  const source = service === undefined ? '' : `${service}: `;
  const type = exceptionType === undefined ? '' : ` (${exceptionType})`;
  return `${source}${category}${type}${message === undefined ? '' : `: ${message}`}`;
}

function describeDropped({ lines, message }: ConversationLineOf<'dropped'>): string {
  return lines === null ? message : `${message} (${formatCount(lines, 'line')} left out)`;
}
