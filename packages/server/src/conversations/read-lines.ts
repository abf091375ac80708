import { type ConversationLine, createApiError, removeConversationText } from '@bothost/contract';
import { type ContentLocation, readFrames } from './content-file.ts';
import { parseStoredLines } from './follower.ts';

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

/** Reads at most `limit` stored lines. Without `withText`, lines have no text, and lines that consist of text are left out. */
export async function readConversationLines(
  content: ContentLocation,
  from: ConversationCursor,
  { limit, withText }: { readonly limit: number; readonly withText: boolean },
): Promise<ConversationPage> {
  const lines: ConversationLine[] = [];
  let next = from;
  let bytes = 0;
  for await (const frame of readFrames(content, from.frame)) {
    if (bytes > pageBytes) return { lines, next, isLast: false };
    const stored = parseStoredLines(frame.text);
    for (let line = Math.max(from.line, frame.firstLine); line < frame.firstLine + frame.lineCount; line += 1) {
      if (lines.length >= limit) return { lines, next: { line, frame: frame.start }, isLast: false };
      const found = stored[line - frame.firstLine];
      const shown = found === undefined || withText ? found : removeConversationText(found);
      if (shown !== undefined && shown !== null) lines.push(shown);
    }
    bytes += frame.text.length;
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
  if (line === undefined || frame === undefined) {
    throw createApiError('invalid-request', {
      issues: [{ path: 'query.cursor', message: 'The cursor does not belong to a conversation.' }],
    });
  }
  return { line: Number(line), frame: Number(frame) };
}
