import { randomBytes } from 'node:crypto';
import {
  ConversationLine,
  type ConversationNumbers,
  conversationLimits,
  createConversationCounter,
  type DropReason,
} from '@bothost/contract';
import type { InstanceConversationStore } from '@bothost/runtime';
import { readContentKeyVersion, unwrapContentKey, wrapContentKey } from '../secrets/vault/content-key.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { RetryWrite } from '../store/retry-write.ts';
import type { Database } from '../store/tables.ts';
import { type ContentLocation, readFrames, type SourcePosition, writeFrame } from './content-file.ts';
import { getContentPath } from './content-path.ts';
import { type DroppedBytes, parseConversationLines } from './line-parser.ts';
import { endConversation, type FollowedSession, findConversation, insertConversation } from './rows.ts';

export type FollowerContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly host: { readonly id: string };
  readonly keyring: Keyring;
  readonly conversationsDirectory: string;
  readonly conversations: InstanceConversationStore;
  readonly retryWrite: RetryWrite;
};

/** Copies what a bot writes to its conversation file into the encrypted content file of the session, while the bot runs. */
export type ConversationFollower = {
  /** Reads the next part of the bot's file. Returns `unknown` if the runtime does not know the instance. */
  readonly step: () => Promise<'more' | 'nothing' | 'lines' | 'unknown'>;
  /** Stores the numbers. Call this after the instance has ended and `step` has read everything. */
  readonly end: () => Promise<void>;
  readonly numbers: () => ConversationNumbers;
};

/** Bytes of the bot's file that one step reads. Bounds the memory and the time that one bot can take. */
const stepBytes = 131_072;

const dropMessages: Readonly<Record<DropReason, string>> = {
  invalid: 'The bot wrote lines that do not follow the bot contract.',
  'line-too-long': `The bot wrote lines of more than ${conversationLimits.lineBytes} bytes.`,
  'file-too-long': `The bot wrote more than ${conversationLimits.fileBytes} bytes. The rest was not read.`,
  'file-replaced': 'The bot replaced its conversation file or gave it a second name. The service stopped reading it.',
  'file-truncated': 'The bot truncated its conversation file. Lines that the service had not read are lost.',
};

/**
 * Opens a follower. Continues after the last frame of the content file if a previous server process has followed the session.
 * Returns null if there is nothing to follow: the conversation has ended already, or its level is `off`.
 */
export async function openFollower(
  context: FollowerContext,
  session: FollowedSession,
  instanceId: string,
): Promise<ConversationFollower | null> {
  if (session.level === 'off') return null;
  const counter = createConversationCounter();
  const dropped = new Map<DropReason, { lines: number; bytes: number }>();
  let content: ContentLocation | null = null;
  let position: SourcePosition = { offset: 0, readBytes: 0 };
  let isInLongLine = false;
  let lineCount = 0;
  let contentEnd = 0;
  let lastAt = 0;
  let hasEnd = false;

  const count = (line: ConversationLine) => {
    counter.add(line);
    lastAt = Math.max(lastAt, line.at);
    if (line.kind === 'end') hasEnd = true;
    if (line.kind === 'dropped') dropped.set(line.reason, { lines: line.lines ?? 0, bytes: line.bytes });
  };

  const known = await findConversation(context.db, session.id);
  if (known !== undefined) {
    if (known.state !== 'live' || known.wrapped_key === null) return null;
    content = await locateContent(context, session, known.wrapped_key);
    for await (const frame of readFrames(content, 0)) {
      for (const line of parseStoredLines(frame.text)) count(line);
      ({ position, end: contentEnd } = frame);
      lineCount = frame.firstLine + frame.lineCount;
    }
  }

  const requireContent = async (): Promise<ContentLocation> => {
    content ??= await createContent(context, session);
    return content;
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

  /** Stores lines and the position after them. If the write fails, nothing changes, and the next step reads the same bytes. */
  const store = async (lines: readonly ConversationLine[], next: SourcePosition) => {
    if (lines.length > 0) {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      const frame = { start: contentEnd, firstLine: lineCount, lineCount: lines.length, position: next, text };
      contentEnd = await writeFrame(await requireContent(), frame);
      lineCount += lines.length;
      for (const line of lines) count(line);
    }
    position = next;
  };

  const drop = async (reason: DropReason, bytes: number, next: SourcePosition = position) => {
    const isKnown = dropped.has(reason) && reason !== 'file-truncated';
    if (!isKnown) await store(describeDrops([{ reason, lines: 0, bytes }]), next);
    return isKnown ? ('nothing' as const) : ('lines' as const);
  };

  return {
    step: async () => {
      const room = conversationLimits.fileBytes - position.readBytes;
      const part = await context.conversations.read(instanceId, position.offset, Math.min(stepBytes, room));
      if (part === null) return 'unknown';
      if (part.kind === 'replaced') return drop('file-replaced', 0);
      if (part.fileBytes < position.offset)
        return drop('file-truncated', position.offset - part.fileBytes, { ...position, offset: 0 });
      const left = part.fileBytes - position.offset;
      if (room <= 0) return left > 0 ? drop('file-too-long', left) : 'nothing';
      if (part.bytes.length === 0) return 'nothing';
      const parsed = parseConversationLines(session, part.bytes, isInLongLine);
      const used = parsed.usedBytes;
      // The limit cuts the last line, so the bytes of its beginning are all that will ever be read.
      const isCut = used === 0 && part.bytes.length === room;
      const advance = isCut ? room : used;
      if (advance === 0) return 'nothing';
      const next = { offset: position.offset + advance, readBytes: position.readBytes + advance };
      const lines = [...parsed.lines, ...describeDrops(parsed.dropped)];
      await store(lines, next);
      isInLongLine = parsed.isInLongLine;
      return next.offset < part.fileBytes ? 'more' : 'lines';
    },
    end: async () => {
      if (content === null) return;
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
export function parseStoredLines(text: string): ConversationLine[] {
  return text.split('\n').flatMap((line) => {
    if (line === '') return [];
    const parsed = ConversationLine.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  });
}

async function createContent(context: FollowerContext, session: FollowedSession): Promise<ContentLocation> {
  const { db, keyring, retryWrite } = context;
  const { id: sessionId, organizationId } = session;
  await retryWrite(() => keyring.ensure(db, organizationId));
  const key = await keyring.current(db, organizationId, 'value');
  const wrappedKey = wrapContentKey(key, { organizationId, sessionId }, randomBytes(32), randomBytes);
  const row = { sessionId, hostId: context.host.id, wrappedKey, createdAt: context.now() };
  const stored = await retryWrite(() => insertConversation(db, row));
  if (stored?.wrapped_key == null) throw new Error('The conversation was deleted.');
  return locateContent(context, session, stored.wrapped_key);
}

/** @throws DamagedDataError, RootKeyMissingError if the key cannot be unwrapped */
export async function locateContent(
  context: Pick<FollowerContext, 'db' | 'keyring' | 'conversationsDirectory'>,
  session: Pick<FollowedSession, 'id' | 'organizationId' | 'agentId'>,
  wrapped: Buffer,
): Promise<ContentLocation> {
  const { id: sessionId, organizationId } = session;
  const version = readContentKeyVersion(wrapped);
  const key = await context.keyring.version(context.db, organizationId, 'value', version);
  return {
    sessionId,
    path: getContentPath(context.conversationsDirectory, session),
    key: unwrapContentKey(key, { organizationId, sessionId }, wrapped),
  };
}
