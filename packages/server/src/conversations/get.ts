import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  type ConversationLevel,
  type ConversationState,
  conversationLimits,
  createApiError,
  createTimeout,
  hasConversationText,
  type OperationGrantee,
  type Operations,
  type RecordingState,
  type RequestOf,
  type ResponseOf,
  type StorageProblem,
} from '@bothost/contract';
import type { Logger } from 'pino';
import { DamagedDataError } from '../secrets/vault/damaged-data-error.ts';
import { RootKeyMissingError } from '../secrets/vault/root-key.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { type ContentKind, type ContentLocation, hasContentFile } from './content-file.ts';
import { type ContentContext, locateContent } from './content-location.ts';
import type { ConversationFollowers } from './followers.ts';
import {
  type ConversationPage,
  conversationStart,
  decodeConversationCursor,
  encodeConversationCursor,
  readConversationLines,
} from './read-lines.ts';
import { type ConversationOfSession, findConversationOfSession } from './rows.ts';

type GetConversation = Operations['getSessionConversation'];
type Query = RequestOf<GetConversation>['query'];

export type ConversationContext = ContentContext & {
  readonly host: { readonly id: string };
  readonly logger: Pick<Logger, 'error'>;
  readonly conversationFollowers: Pick<ConversationFollowers, 'numbers' | 'storageProblem' | 'changed'>;
};

type Scope = { readonly organizationId: string; readonly grantee?: OperationGrantee };

/** Interval at which a waiting request reads the state of the session again. */
const stateMs = 1_000;

/**
 * Returns a page of the lines of a session's conversation, and its numbers. With `wait`, an empty page of a running conversation is
 * delayed until there is a line, until `waitOver` aborts, or by `stateMs` while lines cannot be stored. A viewer gets lines without text. An invalid id, an unknown agent and
 * another organization's session all get the same 404.
 *
 * @throws failure `not-found`; `invalid-request` for an invalid cursor
 */
export async function getSessionConversation(
  context: ConversationContext,
  scope: Scope,
  target: { readonly agentName: string; readonly sessionId: string },
  query: Query,
  waitOver: AbortSignal,
): Promise<ResponseOf<GetConversation>> {
  const from = query.cursor === undefined ? conversationStart : decodeConversationCursor(query.cursor);
  for (let hasWaited = false; ; hasWaited = true) {
    const soon = AbortSignal.any([waitOver, createTimeout(stateMs)]);
    const session = await requireConversation(context.db, scope.organizationId, target);
    // Wait for changes from before the read, so that none is missed between the read and the wait.
    const changed = context.conversationFollowers.changed(session.id, soon);
    const response = await readResponse(context, scope, session, from, query.limit);
    const isNews = response.lines.length > 0 || response.state !== 'live';
    const mustReport = response.storageProblem !== undefined && hasWaited;
    if (isNews || mustReport || query.wait === 0 || waitOver.aborted) return response;
    await changed;
  }
}

/** @throws failure `not-found` */
export async function requireConversation(
  db: Database,
  organizationId: string,
  { agentName, sessionId }: { readonly agentName: string; readonly sessionId: string },
): Promise<ConversationOfSession> {
  const found = isUuid(sessionId)
    ? await findConversationOfSession(db, organizationId, agentName, sessionId)
    : undefined;
  if (found === undefined) throw createApiError('not-found');
  return found;
}

async function readResponse(
  context: ConversationContext,
  { grantee }: Scope,
  session: ConversationOfSession,
  from: typeof conversationStart,
  limit: number,
): Promise<ResponseOf<GetConversation>> {
  const level: ConversationLevel = session.level ?? 'off';
  const isReader = grantee === 'owner' || grantee === 'member' || grantee === 'private-key';
  const state = stateOf(session);
  const hasText = hasConversationText(level);
  const page = await readPage(context, session, from, { limit, level: isReader ? level : 'timings' });
  const isPage = typeof page !== 'string';
  const problem = state === 'live' ? await findStorageProblem(context, session.id) : undefined;
  const hasMore = (isPage || page === 'none') && (state === 'live' || (isPage && !page.isLast));
  return {
    sessionId: session.id,
    level,
    state: isPage || (page === 'none' && state === 'live') ? state : page,
    ...(problem === undefined ? {} : { storageProblem: problem }),
    startedAt: (session.startedAt ?? session.dispatchedAt)?.toISOString() ?? null,
    numbers: session.numbers ?? context.conversationFollowers.numbers(session.id),
    textHidden: !hasText ? 'level' : isReader ? null : 'role',
    recording: await findRecordingState(context, session, isReader),
    lines: isPage ? [...page.lines] : [],
    nextCursor: hasMore ? encodeConversationCursor(isPage ? page.next : from) : null,
  };
}

/** A bot that cannot write on a full disk keeps its lines, so that the service has nothing to store. */
async function findStorageProblem(
  { conversationFollowers, conversationsDirectory }: ConversationContext,
  sessionId: string,
): Promise<StorageProblem | undefined> {
  const problem = conversationFollowers.storageProblem(sessionId);
  if (problem !== undefined) return problem;
  // The directory of the conversations is created with the first of them.
  const { bavail, bsize } = await statfs(dirname(conversationsDirectory));
  return bavail * bsize < conversationLimits.lineBytes ? 'disk-full' : undefined;
}

function stateOf(session: ConversationOfSession): ConversationState {
  const { conversation, level, isOpen } = session;
  if (conversation === null) return isOpen && level !== null && level !== 'off' ? 'live' : 'none';
  if (conversation === 'deleted' || conversation === 'expired') return conversation;
  // Until the log is stored, the conversation cannot be deleted.
  if (isOpen) return 'live';
  return conversation === 'live' ? 'incomplete' : conversation;
}

async function findRecordingState(
  context: ConversationContext,
  session: ConversationOfSession,
  isReader: boolean,
): Promise<RecordingState> {
  if (session.recordedAt === null) return 'none';
  if (session.recordingKey === null) return session.conversation === 'deleted' ? 'deleted' : 'expired';
  if (!isReader) return 'hidden';
  if (session.hostId !== context.host.id) return 'elsewhere';
  const content = await findContent(context, session, 'recording', session.recordingKey);
  if (content !== 'missing' && (await hasContentFile(content.path))) return 'available';
  // Until the first part is stored, there is a key, but no file.
  return session.conversation === 'live' ? 'none' : 'missing';
}

async function readPage(
  context: ConversationContext,
  session: ConversationOfSession,
  from: typeof conversationStart,
  options: { readonly limit: number; readonly level: ConversationLevel },
): Promise<ConversationPage | 'elsewhere' | 'missing' | 'none'> {
  if (session.wrappedKey !== null && session.hostId !== context.host.id) return 'elsewhere';
  const content = session.wrappedKey === null ? null : await findContent(context, session, 'lines', session.wrappedKey);
  if (content === null) return { lines: [], next: from, isLast: true };
  if (content === 'missing') return 'missing';
  // The row may be older than the first line, and also holds the key of the last output of a bot that wrote no line.
  if (!(await hasContentFile(content.path))) return session.conversation === 'live' ? 'none' : 'missing';
  return readConversationLines(content, from, options);
}

/** Finds the file of a content. `missing`: its key cannot be unwrapped. */
export async function findContent(
  context: ContentContext & Pick<ConversationContext, 'logger'>,
  session: ConversationOfSession,
  kind: ContentKind,
  wrapped: Buffer,
): Promise<ContentLocation | 'missing'> {
  try {
    return await locateContent(context, session, kind, wrapped);
  } catch (error) {
    if (!(error instanceof DamagedDataError || error instanceof RootKeyMissingError)) throw error;
    context.logger.error({ err: error, sessionId: session.id }, 'conversation could not be decrypted');
    return 'missing';
  }
}
