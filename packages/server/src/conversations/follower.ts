import { BotConversationLine, type ConversationNumbers, conversationLimits } from '@bothost/contract';
import type { ConversationFileName, InstanceConversationStore } from '@bothost/runtime';
import { getWrappedKey } from './content-key.ts';
import { createContent, locateContent, type NewContentContext } from './content-location.ts';
import { parseConversationLines } from './line-parser.ts';
import { type LineStore, openLineStore } from './line-store.ts';
import type { PublishedEvent } from './published-event.ts';
import { createPublishedLines, type PublishedLines } from './published-lines.ts';
import { openRecordingWriter, type RecordingWriter } from './recording-file.ts';
import { type ConversationRow, type FollowedSession, findConversation } from './rows.ts';
import { readSource } from './source.ts';

export type FollowerContext = NewContentContext & { readonly conversations: InstanceConversationStore };

/** `unknown`: the runtime does not know the instance. `stored`: something new can be read. `more`: the next step finds more. */
type StepOutcome = 'unknown' | 'nothing' | 'stored' | 'more';
type Step = () => Promise<StepOutcome>;

/** Copies what a bot writes to the files of its conversation into the encrypted files of the session, while the bot runs. */
export type ConversationFollower = {
  /** Reads the next part of the bot's files. */
  readonly step: Step;
  /**
   * Stores the lines that follow from an event. `ignored`: the bot writes its conversation file, which says more. `invalid`: the times
   * of the event cannot be true. `full`: the session has no room for more lines.
   */
  readonly receive: (event: ReceivedEvent) => Promise<'stored' | 'ignored' | 'invalid' | 'full'>;
  /** Stores the numbers. Call this after the instance has ended and `step` has read everything. */
  readonly end: () => Promise<void>;
  readonly numbers: () => ConversationNumbers;
};

/** An event of the bot's image. `at`, `postedAt`: when it was received and posted; `startedAt`: the session's start. */
export type ReceivedEvent = {
  readonly event: PublishedEvent;
  readonly bytes: number;
  readonly at: number;
  readonly postedAt: number;
  readonly startedAt: number;
};

/**
 * Opens a follower. Continues after the last frame of the content files if a previous server process has followed the session.
 * Returns null if there is nothing to follow: the conversation has ended already, or its level is `off`.
 */
export async function openFollower(
  context: FollowerContext,
  session: FollowedSession,
  instanceId: string,
): Promise<ConversationFollower | null> {
  if (session.level === 'off') return null;
  const row = (await findConversation(context.db, session.id)) ?? null;
  if (row !== null && (row.state !== 'live' || row.wrapped_key === null)) return null;
  const published = createPublishedLines();
  const lines = await openLineStore(context, session, row, published.record);
  const read = (file: ConversationFileName) => (offset: number, maximumBytes: number) =>
    context.conversations.read(instanceId, file, offset, maximumBytes);
  const steps = [
    createLineStep(session, lines, read('lines')),
    ...(session.level === 'recording' ? [createRecordingStep(context, session, row, lines, read('recording'))] : []),
  ];
  return {
    step: async () => {
      const outcomes: StepOutcome[] = [];
      for (const step of steps) outcomes.push(await step());
      const order = ['unknown', 'more', 'stored'] as const;
      return order.find((outcome) => outcomes.includes(outcome)) ?? 'nothing';
    },
    receive: (event) => receive(lines, published, event),
    end: lines.end,
    numbers: lines.numbers,
  };
}

async function receive(
  lines: LineStore,
  published: PublishedLines,
  received: ReceivedEvent,
): ReturnType<ConversationFollower['receive']> {
  const position = lines.position();
  if (position.offset > 0) return 'ignored';
  const readBytes = position.readBytes + received.bytes;
  if (readBytes > conversationLimits.fileBytes) {
    await lines.drop('file-too-long', received.bytes);
    return 'full';
  }
  const converted = published.convert(received.event, received);
  if (!converted.every(isValidLine)) return 'invalid';
  await lines.add(converted, [], { ...position, readBytes });
  return 'stored';
}

function isValidLine(line: BotConversationLine): boolean {
  return (
    BotConversationLine.safeParse(line).success &&
    Buffer.byteLength(JSON.stringify(line)) < conversationLimits.lineBytes
  );
}

type Read = Parameters<typeof readSource>[0];

function createLineStep(session: FollowedSession, lines: LineStore, read: Read): Step {
  let isInLongLine = false;
  return async () => {
    const position = lines.position();
    const part = await readSource(read, position, conversationLimits.fileBytes);
    if (part.kind === 'problem') {
      const next = part.problem === 'truncated' ? { ...position, offset: 0 } : position;
      return (await lines.drop(`file-${part.problem}`, part.bytes, next)) === 'lines' ? 'stored' : 'nothing';
    }
    if (part.kind !== 'bytes') return part.kind;
    const parsed = parseConversationLines(session, part.bytes, isInLongLine);
    // The limit cuts the last line, so the bytes of its beginning are all that will ever be read.
    const advance = parsed.usedBytes === 0 && part.isCut ? part.bytes.length : parsed.usedBytes;
    if (advance === 0) return 'nothing';
    const next = { offset: position.offset + advance, readBytes: position.readBytes + advance };
    await lines.add(parsed.lines, parsed.dropped, next);
    isInLongLine = parsed.isInLongLine;
    return next.offset < part.fileBytes ? 'more' : 'stored';
  };
}

function createRecordingStep(
  context: FollowerContext,
  session: FollowedSession,
  row: ConversationRow | null,
  lines: LineStore,
  read: Read,
): Step {
  let writer: RecordingWriter | null = null;
  const known = row === null ? null : getWrappedKey(row, 'recording');
  const openWriter = async (): Promise<RecordingWriter> => {
    if (known !== null) return openRecordingWriter(await locateContent(context, session, 'recording', known));
    await lines.ensure();
    return openRecordingWriter(await createContent(context, session, 'recording'));
  };
  return async () => {
    // After a gap, the rest of the stream cannot be played.
    const isOver = problems.some((problem) => lines.hasDropped(`recording-${problem}`));
    if (isOver) return 'nothing';
    if (known !== null) writer ??= await openWriter();
    const position = writer?.position() ?? { offset: 0, readBytes: 0 };
    const part = await readSource(read, position, conversationLimits.recordingBytes);
    if (part.kind === 'problem') {
      await lines.drop(`recording-${part.problem}`, part.bytes);
      return 'stored';
    }
    // An instance that an earlier version of the service started has no recording file.
    if (part.kind !== 'bytes') return 'nothing';
    writer ??= await openWriter();
    await writer.append(part.bytes);
    return writer.position().offset < part.fileBytes ? 'more' : 'stored';
  };
}

const problems = ['too-long', 'replaced', 'truncated'] as const;
