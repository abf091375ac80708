import { type ConversationLine, type ConversationLineOf, getConversationLineKey } from '@bothost/contract';
import { createWaveform, type Waveform } from './waveform.ts';

/** One exchange: what the user said, and the response of the bot. Turn 0 is what the bot says before the user. */
export type Turn = {
  readonly number: number;
  /** Times are in milliseconds since the start of the session. `toMs` is null while the turn is running. */
  readonly fromMs: number;
  readonly toMs: number | null;
  readonly isInterrupted: boolean;
  readonly speech: readonly ConversationLineOf<'speech'>[];
  readonly said: readonly ConversationLineOf<'said'>[];
  readonly response: ConversationLineOf<'response'> | null;
  readonly tools: readonly ConversationLineOf<'tool'>[];
  readonly usage: readonly ConversationLineOf<'usage'>[];
  readonly errors: readonly ConversationLineOf<'error'>[];
};

export type Conversation = {
  readonly services: ConversationLineOf<'services'> | null;
  /** In the order of their numbers. */
  readonly turns: readonly Turn[];
  readonly speech: readonly ConversationLineOf<'speech'>[];
  readonly responses: readonly ConversationLineOf<'response'>[];
  readonly tools: readonly ConversationLineOf<'tool'>[];
  readonly errors: readonly ConversationLineOf<'error'>[];
  readonly dropped: readonly ConversationLineOf<'dropped'>[];
  /** Why the recording ended before the session. */
  readonly recordingEnd: ConversationLineOf<'recording'> | null;
  /** Null if nothing was recorded, or if the caller may not hear it. */
  readonly waveform: Waveform | null;
};

/** Builds a conversation from all its lines, in the order in which the service returned them. */
export function createConversation(lines: readonly ConversationLine[]): Conversation {
  const latest = selectLatestLines(lines);
  const of = <Kind extends ConversationLine['kind']>(kind: Kind) =>
    latest.filter((line): line is ConversationLineOf<Kind> => line.kind === kind);
  return {
    services: of('services')[0] ?? null,
    turns: createTurns(latest),
    speech: of('speech'),
    responses: of('response'),
    tools: of('tool'),
    errors: of('error'),
    dropped: of('dropped'),
    recordingEnd: of('recording')[0] ?? null,
    waveform: createWaveform(of('peaks')),
  };
}

/** Keeps only the latest version of lines that were written several times. */
function selectLatestLines(lines: readonly ConversationLine[]): readonly ConversationLine[] {
  const latest = new Map<string, ConversationLine>();
  lines.forEach((line, index) => {
    latest.set(getConversationLineKey(line) ?? `line ${index}`, line);
  });
  return [...latest.values()];
}

type MutableTurn = {
  -readonly [Field in keyof Turn]: Turn[Field] extends readonly (infer Item)[] ? Item[] : Turn[Field];
};

function createTurns(lines: readonly ConversationLine[]): readonly Turn[] {
  const turns = new Map<number, MutableTurn>();
  for (const line of lines) {
    if (line.kind !== 'turn') continue;
    const { turn, from, to, interrupted = false } = line;
    turns.set(turn, createTurn(turn, from, to, interrupted));
  }
  const starts = [...turns.values()].toSorted((a, b) => a.fromMs - b.fromMs);
  for (const line of lines) {
    if (!isOfTurn(line)) continue;
    const fromMs = 'from' in line ? line.from : line.at;
    // The line of the turn itself is missing if the service left it out.
    const number = line.turn ?? findTurnAt(starts, fromMs)?.number ?? 0;
    const turn =
      turns.get(number) ?? createTurn(number, fromMs, 'from' in line && 'to' in line ? line.to : line.at, false);
    turns.set(number, turn);
    switch (line.kind) {
      case 'speech':
        turn.speech.push(line);
        break;
      case 'said':
        turn.said.push(line);
        break;
      case 'response':
        turn.response = line;
        break;
      case 'tool':
        turn.tools.push(line);
        break;
      case 'usage':
        turn.usage.push(line);
        break;
      case 'error':
        turn.errors.push(line);
        break;
    }
  }
  return [...turns.values()].toSorted((a, b) => a.number - b.number);
}

const kindsOfTurns = ['speech', 'said', 'response', 'tool', 'usage', 'error'] as const;

/** Returns whether a line belongs to a turn, without being the line of the turn. */
function isOfTurn(line: ConversationLine): line is ConversationLineOf<(typeof kindsOfTurns)[number]> {
  return kindsOfTurns.some((kind) => kind === line.kind);
}

function createTurn(number: number, fromMs: number, toMs: number | null, isInterrupted: boolean): MutableTurn {
  const lists = { speech: [], said: [], tools: [], usage: [], errors: [] };
  return { number, fromMs, toMs, isInterrupted, response: null, ...lists };
}

/**
 * Returns the last turn that began at or before a time in milliseconds since the start of the session. Returns the first turn if
 * the time is before all turns, and undefined if there are no turns.
 */
export function findTurnAt<T extends Pick<Turn, 'fromMs'>>(turns: readonly T[], atMs: number): T | undefined {
  return turns.findLast(({ fromMs }) => fromMs <= atMs) ?? turns[0];
}
