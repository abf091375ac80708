import { type ConversationLevel, type ConversationLine, limitConversationLine } from '@bothost/contract';
import { createCursorError } from '../store/cursor-error.ts';
import { type ContentLocation, readFrames } from './content-file.ts';
import { parseStoredLines } from './line-store.ts';

/** A position in a stored conversation: the next line, and the offset of the frame to read it from. */
export type ConversationCursor = { readonly line: number; readonly frame: number };

export type ConversationPage = {
  readonly lines: readonly ConversationLine[];
  readonly next: ConversationCursor;
  /** Whether the page ends where the stored lines end. */
  readonly isLast: boolean;
};

/** A page ends after this many bytes of JSON, so that a response stays small. */
const pageBytes = 2 * 1_048_576;

/** Reads at most `limit` stored lines. They contain no more than `level` allows; lines of which nothing is left are left out. */
export async function readConversationLines(
  content: ContentLocation,
  from: ConversationCursor,
  { limit, level }: { readonly limit: number; readonly level: ConversationLevel },
): Promise<ConversationPage> {
  const lines: ConversationLine[] = [];
  let next = from;
  let bytes = 0;
  for await (const frame of readFrames(content, from.frame)) {
    if (bytes > pageBytes) return { lines, next, isLast: false };
    const stored = parseStoredLines(frame.bytes);
    for (let line = Math.max(from.line, frame.firstLine); line < frame.firstLine + frame.lineCount; line += 1) {
      if (lines.length >= limit) return { lines, next: { line, frame: frame.start }, isLast: false };
      const found = stored[line - frame.firstLine];
      const shown = found === undefined ? null : limitConversationLine(found, level);
      if (shown !== null) lines.push(shown);
    }
    bytes += frame.bytes.length;
    next = { line: frame.firstLine + frame.lineCount, frame: frame.end };
  }
  return { lines, next, isLast: true };
}

export const conversationStart: ConversationCursor = { line: 0, frame: 0 };

export function encodeConversationCursor({ line, frame }: ConversationCursor): string {
  return `${line}.${frame}`;
}

/** @throws failure `invalid-request` */
export function decodeConversationCursor(text: string): ConversationCursor {
  const [, line, frame] = /^(\d{1,9})\.(\d{1,10})$/.exec(text) ?? [];
  if (line === undefined || frame === undefined) throw createCursorError('a conversation');
  return { line: Number(line), frame: Number(frame) };
}
