import {
  BotConversationLine,
  type ConversationLevel,
  type ConversationLine,
  conversationLimits,
  type DropReason,
  limitConversationLine,
} from '@bothost/contract';

export type ParsedLines = {
  readonly lines: readonly ConversationLine[];
  /** Bytes before the next line. The rest must be passed again. */
  readonly usedBytes: number;
  readonly dropped: readonly DroppedBytes[];
  /** Whether the next bytes continue a line whose beginning was dropped because it is too long. */
  readonly isInLongLine: boolean;
};

export type DroppedBytes = { readonly reason: DropReason; readonly lines: number; readonly bytes: number };

type Session = { readonly id: string; readonly level: ConversationLevel };

const newline = 10;

/** Parses the whole lines. The bytes are not trusted: invalid, too long and foreign lines are counted and left out. */
export function parseConversationLines(session: Session, bytes: Buffer, wasInLongLine: boolean): ParsedLines {
  const lines: ConversationLine[] = [];
  const invalid = { lines: 0, bytes: 0 };
  const tooLong = { lines: 0, bytes: 0 };
  let isInLongLine = wasInLongLine;
  let from = 0;
  while (from < bytes.length) {
    const to = bytes.indexOf(newline, from);
    const hasEnded = to !== -1;
    const length = (hasEnded ? to + 1 : bytes.length) - from;
    const isLong = isInLongLine || length > conversationLimits.lineBytes;
    if (!hasEnded && !isLong) break;
    if (isLong) {
      if (!isInLongLine) tooLong.lines += 1;
      tooLong.bytes += length;
      isInLongLine = !hasEnded;
    } else if (length > 1) {
      const line = parseLine(session, bytes.toString('utf8', from, to));
      if (line === 'invalid') {
        invalid.lines += 1;
        invalid.bytes += length;
      } else if (line !== null) lines.push(line);
    }
    from += length;
  }
  const dropped = [
    { reason: 'invalid', ...invalid },
    { reason: 'line-too-long', ...tooLong },
  ] as const;
  return { lines, usedBytes: from, isInLongLine, dropped: dropped.filter((drop) => drop.bytes > 0) };
}

/** Returns null for a line that the level does not keep. */
function parseLine(session: Session, text: string): ConversationLine | 'invalid' | null {
  const parsed = BotConversationLine.safeParse(parseJson(text));
  if (!parsed.success) return 'invalid';
  const { sessionId, ...line } = parsed.data;
  if (sessionId !== undefined && sessionId.toLowerCase() !== session.id) return 'invalid';
  return limitConversationLine(line, session.level);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
