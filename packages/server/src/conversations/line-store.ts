import {
  ConversationLine,
  type ConversationNumbers,
  conversationLimits,
  createConversationCounter,
  type DropReason,
} from '@bothost/contract';
import { type ContentLocation, readFrames, type SourcePosition, writeFrame } from './content-file.ts';
import { getWrappedKey } from './content-key.ts';
import { createContent, locateContent, type NewContentContext } from './content-location.ts';
import type { DroppedBytes } from './line-parser.ts';
import { type ConversationRow, endConversation, type FollowedSession } from './rows.ts';

/** The stored lines of a session that is being followed, and their numbers. */
export type LineStore = {
  /** How far the bot's file of lines was read. */
  readonly position: () => SourcePosition;
  /** Stores lines and the position after them. If the write fails, nothing changes, and the next step reads the same bytes. */
  readonly add: (
    lines: readonly ConversationLine[],
    dropped: readonly DroppedBytes[],
    next: SourcePosition,
  ) => Promise<void>;
  /** Stores a line that says what was dropped, and the position after it. Only the first time for each reason, except truncations. */
  readonly drop: (reason: DropReason, bytes: number, next?: SourcePosition) => Promise<'nothing' | 'lines'>;
  readonly hasDropped: (reason: DropReason) => boolean;
  /** Creates the row of the conversation, if no line was stored yet. */
  readonly ensure: () => Promise<void>;
  /** Stores the numbers. */
  readonly end: () => Promise<void>;
  readonly numbers: () => ConversationNumbers;
};

const dropMessages: Readonly<Record<DropReason, string>> = {
  invalid: 'The bot wrote lines that do not follow the bot contract.',
  'line-too-long': `The bot wrote lines of more than ${conversationLimits.lineBytes} bytes.`,
  'file-too-long': `The bot wrote more than ${conversationLimits.fileBytes} bytes. The rest was not read.`,
  'file-replaced': 'The bot replaced its conversation file or gave it a second name. The service stopped reading it.',
  'file-truncated': 'The bot truncated its conversation file. Lines that the service had not read are lost.',
  'recording-too-long': `The recording has more than ${conversationLimits.recordingBytes} bytes. The rest was not stored.`,
  'recording-replaced': 'The bot replaced its recording file or gave it a second name. The service stopped reading it.',
  'recording-truncated': 'The bot truncated its recording file. The service stopped reading it.',
};

/** Opens the lines of a conversation; `row` is null if it has none. Calls `onStored` for each line, also earlier ones. */
export async function openLineStore(
  context: NewContentContext,
  session: FollowedSession,
  row: ConversationRow | null,
  onStored: (line: ConversationLine) => void,
): Promise<LineStore> {
  const counter = createConversationCounter();
  const dropped = new Map<DropReason, { readonly lines: number; readonly bytes: number }>();
  let content: ContentLocation | null = null;
  let position: SourcePosition = { offset: 0, readBytes: 0 };
  let lineCount = 0;
  let contentEnd = 0;
  let lastAt = 0;
  let hasEnd = false;

  const count = (line: ConversationLine) => {
    counter.add(line);
    onStored(line);
    lastAt = Math.max(lastAt, line.at);
    if (line.kind === 'end') hasEnd = true;
    if (line.kind === 'dropped') dropped.set(line.reason, { lines: line.lines ?? 0, bytes: line.bytes });
  };

  const wrapped = row === null ? null : getWrappedKey(row, 'lines');
  if (wrapped !== null) {
    content = await locateContent(context, session, 'lines', wrapped);
    for await (const frame of readFrames(content, 0)) {
      for (const line of parseStoredLines(frame.bytes)) count(line);
      ({ position, end: contentEnd } = frame);
      lineCount = frame.firstLine + frame.lineCount;
    }
  }

  const requireContent = async (): Promise<ContentLocation> => {
    content ??= await createContent(context, session, 'lines');
    return content;
  };

  const write = async (lines: readonly ConversationLine[], next: SourcePosition) => {
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const frame = { start: contentEnd, firstLine: lineCount, lineCount: lines.length, position: next, bytes };
    contentEnd = await writeFrame(await requireContent(), frame);
    lineCount += lines.length;
    for (const line of lines) count(line);
    position = next;
  };

  /** Adds to what was dropped, and returns the lines that say so. */
  const describeDrops = (drops: readonly DroppedBytes[]): ConversationLine[] =>
    drops.map(({ reason, lines, bytes }) => {
      const before = dropped.get(reason) ?? { lines: 0, bytes: 0 };
      return {
        kind: 'dropped',
        at: lastAt,
        reason,
        lines: before.lines + lines,
        bytes: before.bytes + bytes,
        message: dropMessages[reason],
      };
    });

  const add: LineStore['add'] = async (lines, drops, next) => {
    const all = [...lines, ...describeDrops(drops)];
    if (all.length > 0) await write(all, next);
    position = next;
  };

  return {
    position: () => position,
    add,
    drop: async (reason, bytes, next = position) => {
      if (dropped.has(reason) && reason !== 'file-truncated') return 'nothing';
      await add([], [{ reason, lines: 0, bytes }], next);
      return 'lines';
    },
    hasDropped: (reason) => dropped.has(reason),
    ensure: async () => void (await requireContent()),
    end: async () => {
      if (content === null) return;
      // The file exists from now on, so that its absence means that it was lost.
      if (contentEnd === 0) await write([], position);
      const ended = {
        state: hasEnd ? 'complete' : 'incomplete',
        numbers: counter.numbers(),
        at: context.now(),
      } as const;
      await context.retryWrite(() => endConversation(context.db, session.id, ended));
    },
    numbers: counter.numbers,
  };
}

/** Parses the lines of a frame. They were validated before they were stored. A line of a newer version is skipped. */
export function parseStoredLines(bytes: Buffer): ConversationLine[] {
  return bytes
    .toString()
    .split('\n')
    .flatMap((line) => {
      if (line === '') return [];
      const parsed = ConversationLine.safeParse(JSON.parse(line));
      return parsed.success ? [parsed.data] : [];
    });
}
