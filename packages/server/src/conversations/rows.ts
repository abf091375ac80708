import type { ConversationLevel, ConversationNumbers } from '@bothost/contract';
import { type Selectable, sql } from 'kysely';
import type { Database, SessionConversationsTable } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import type { ContentKind } from './content-file.ts';

export type ConversationRow = Selectable<SessionConversationsTable>;

export type FollowedSession = {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly level: ConversationLevel;
};

/** `isRedacted`: whether the bot removes something from texts. */
type RecordedSession = FollowedSession & { readonly isRedacted: boolean };

function selectFollowedSession(db: Database) {
  return db
    .selectFrom('sessions')
    .select([
      'sessions.id',
      'sessions.organization_id',
      'sessions.agent_id',
      'sessions.conversation_level',
      'sessions.conversation_redact',
    ]);
}

function toFollowedSession(row: {
  readonly id: string;
  readonly organization_id: string;
  readonly agent_id: string;
  readonly conversation_level: ConversationLevel | null;
  readonly conversation_redact: readonly string[];
}): RecordedSession {
  // A session of an earlier version has no level. Its bot was not asked to write anything.
  const level = row.conversation_level ?? 'off';
  const isRedacted = row.conversation_redact.length > 0;
  return { id: row.id, organizationId: row.organization_id, agentId: row.agent_id, level, isRedacted };
}

export async function findFollowedSession(db: Database, sessionId: string): Promise<RecordedSession | undefined> {
  const row = await selectFollowedSession(db).where('id', '=', sessionId).executeTakeFirst();
  return row === undefined ? undefined : toFollowedSession(row);
}

export async function findFollowedSessionOfInstance(
  db: Database,
  instanceId: string,
): Promise<FollowedSession | undefined> {
  const row = await selectFollowedSession(db)
    .innerJoin('instances', 'instances.session_id', 'sessions.id')
    .where('instances.id', '=', instanceId)
    .executeTakeFirst();
  return row === undefined ? undefined : toFollowedSession(row);
}

/** The session that runs on an instance now. `startedAt` is null if it has not been dispatched. */
export function findRunningSessionOfInstance(db: Database, instanceId: string) {
  return db
    .selectFrom('sessions')
    .innerJoin('instances', 'instances.session_id', 'sessions.id')
    .select(['sessions.id', 'sessions.conversation_level as level'])
    .select(({ fn }) => fn.coalesce('sessions.bot_started_at', 'sessions.dispatched_at').as('startedAt'))
    .where('instances.id', '=', instanceId)
    .where('sessions.state', '<>', 'ended')
    .executeTakeFirst();
}

export function findConversation(db: Database, sessionId: string): Promise<ConversationRow | undefined> {
  return db.selectFrom('session_conversations').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
}

/** Inserts the row of a conversation, unless there is one. Returns the row. */
export async function insertConversation(
  db: Database,
  row: { readonly sessionId: string; readonly hostId: string; readonly wrappedKey: Buffer; readonly createdAt: Date },
): Promise<ConversationRow | undefined> {
  await sql`insert into session_conversations (session_id, host_id, state, wrapped_key, created_at)
    values (${row.sessionId}, ${row.hostId}, 'live', ${row.wrappedKey}, ${row.createdAt}::timestamptz)
    on conflict do nothing`.execute(db);
  return findConversation(db, row.sessionId);
}

/** Stores the key of the recording of a running conversation, unless there is one. Returns the row. */
export async function insertRecordingKey(
  db: Database,
  row: { readonly sessionId: string; readonly wrappedKey: Buffer; readonly createdAt: Date },
): Promise<ConversationRow | undefined> {
  await db
    .updateTable('session_conversations')
    .set({ recording_key: row.wrappedKey, recorded_at: row.createdAt })
    .where('session_id', '=', row.sessionId)
    .where('state', '=', 'live')
    .where('recorded_at', 'is', null)
    .execute();
  return findConversation(db, row.sessionId);
}

/** Stores the numbers of a conversation that has ended. Does nothing if they are stored already. */
export async function endConversation(
  db: Database,
  sessionId: string,
  ended: { readonly state: 'complete' | 'incomplete'; readonly numbers: ConversationNumbers; readonly at: Date },
): Promise<void> {
  const { numbers } = ended;
  const { silence, release } = numbers.responses;
  const times = silence ?? release;
  await db
    .updateTable('session_conversations')
    .set({
      state: ended.state,
      numbers: JSON.stringify(numbers),
      response_p50_ms: times?.p50 ?? null,
      response_p95_ms: times?.p95 ?? null,
      interruptions: numbers.interruptions,
      errors: numbers.errors,
      ended_at: ended.at,
    })
    .where('session_id', '=', sessionId)
    .where('state', '=', 'live')
    .execute();
}

/** A session with its conversation. `isOpen`: the session or its instance has not ended, so that lines may still be stored. */
export type ConversationOfSession = {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly level: ConversationLevel | null;
  readonly startedAt: Date | null;
  readonly dispatchedAt: Date | null;
  readonly isOpen: boolean;
  /** The state of the conversation. Null if it has no line. */
  readonly conversation: ConversationRow['state'] | null;
  /** The host that has the lines. Null without a conversation. */
  readonly hostId: string | null;
  readonly wrappedKey: Buffer | null;
  /** When the recording began, or null if there was none. `recordingKey` is null again once the recording was deleted or expired. */
  readonly recordedAt: Date | null;
  readonly recordingKey: Buffer | null;
  readonly numbers: ConversationNumbers | null;
};

/** `agent` is the name or id of the session's agent. */
export function findConversationOfSession(
  db: Database,
  organizationId: string,
  agent: string,
  sessionId: string,
): Promise<ConversationOfSession | undefined> {
  const named = sql<boolean>`(agents.name = ${agent} and agents.deleted_at is null
    or agents.id = ${isUuid(agent) ? agent : null}::uuid)`;
  return db
    .selectFrom('sessions')
    .innerJoin('agents', 'agents.id', 'sessions.agent_id')
    .leftJoin('instances', 'instances.session_id', 'sessions.id')
    .leftJoin('session_conversations', 'session_conversations.session_id', 'sessions.id')
    .select([
      'sessions.id',
      'sessions.organization_id as organizationId',
      'sessions.agent_id as agentId',
      'agents.name as agentName',
      'sessions.conversation_level as level',
      'sessions.bot_started_at as startedAt',
      'sessions.dispatched_at as dispatchedAt',
      'session_conversations.state as conversation',
      'session_conversations.host_id as hostId',
      'session_conversations.wrapped_key as wrappedKey',
      'session_conversations.recorded_at as recordedAt',
      'session_conversations.recording_key as recordingKey',
      'session_conversations.numbers',
    ])
    .select(sql<boolean>`sessions.state <> 'ended' or coalesce(instances.state <> 'ended', false)`.as('isOpen'))
    .where('sessions.id', '=', sessionId)
    .where('agents.organization_id', '=', organizationId)
    .where(named)
    .executeTakeFirst();
}

/** Locks a session, so that its conversation is not deleted twice at once. Returns whether it exists. */
export async function lockSession(db: Database, sessionId: string): Promise<boolean> {
  const query = db.selectFrom('sessions').select('id').where('id', '=', sessionId).forNoKeyUpdate();
  return (await query.executeTakeFirst()) !== undefined;
}

/** Deletes the keys of a conversation, so that its lines and its recording can never be read again. Keeps its numbers. */
export async function deleteConversationKeys(
  db: Database,
  row: { readonly sessionId: string; readonly hostId: string; readonly at: Date },
): Promise<void> {
  await sql`insert into session_conversations (session_id, host_id, state, created_at)
    values (${row.sessionId}, ${row.hostId}, 'deleted', ${row.at}::timestamptz)
    on conflict (session_id) do update set state = 'deleted', wrapped_key = null, recording_key = null`.execute(db);
}

type SessionKey = { readonly id: string; readonly agentId: string };

const expiries = {
  lines: { key: sql.ref('wrapped_key'), begunAt: sql.ref('created_at'), state: sql`state = 'expired',` },
  recording: { key: sql.ref('recording_key'), begunAt: sql.ref('recorded_at'), state: sql`` },
} as const satisfies Record<ContentKind, object>;

/** Deletes the keys of content that began before a time, at most `limit`. Returns its sessions. */
export async function expireContent(
  db: Database,
  kind: ContentKind,
  { hostId, before, limit }: { readonly hostId: string; readonly before: Date; readonly limit: number },
): Promise<SessionKey[]> {
  const { key, begunAt, state } = expiries[kind];
  const { rows } = await sql<SessionKey>`
    update session_conversations set ${state} ${key} = null
    from sessions where sessions.id = session_id and session_id in (
      select session_id from session_conversations
      where host_id = ${hostId} and ${begunAt} < ${before}::timestamptz and ${key} is not null
      order by ${begunAt} limit ${limit})
    returning sessions.id, sessions.agent_id as "agentId"`.execute(db);
  return rows;
}

/** Lists deleted conversations whose session still has a stored log on the host. */
export function listDeletedConversationsWithLog(db: Database, hostId: string, limit: number): Promise<SessionKey[]> {
  return db
    .selectFrom('session_conversations')
    .innerJoin('instance_logs', 'instance_logs.session_id', 'session_conversations.session_id')
    .select(['session_conversations.session_id as id', 'instance_logs.agent_id as agentId'])
    .where('session_conversations.state', '=', 'deleted')
    .where('instance_logs.host_id', '=', hostId)
    .limit(limit)
    .execute();
}

type SessionContent = SessionKey & { readonly kind: ContentKind };

/** Returns which content of these sessions has a key, and so can be read. */
export async function findSessionsWithContent(
  db: Database,
  sessionIds: readonly string[],
): Promise<readonly Pick<SessionContent, 'id' | 'kind'>[]> {
  const rows = await db
    .selectFrom('session_conversations')
    .select(['session_id as id', 'wrapped_key', 'recording_key'])
    .where('session_id', 'in', [...sessionIds])
    .execute();
  return rows.flatMap(listContent);
}

export async function listSessionsWithContent(db: Database, hostId: string): Promise<SessionContent[]> {
  const rows = await db
    .selectFrom('session_conversations')
    .innerJoin('sessions', 'sessions.id', 'session_conversations.session_id')
    .select(['sessions.id', 'sessions.agent_id as agentId', 'wrapped_key', 'recording_key'])
    .where('session_conversations.host_id', '=', hostId)
    .where('session_conversations.state', '<>', 'live')
    .execute();
  return rows.flatMap(listContent);
}

function listContent<Row extends { readonly wrapped_key: Buffer | null; readonly recording_key: Buffer | null }>({
  wrapped_key: lines,
  recording_key: recording,
  ...session
}: Row) {
  return [
    ...(lines === null ? [] : [{ ...session, kind: 'lines' as const }]),
    ...(recording === null ? [] : [{ ...session, kind: 'recording' as const }]),
  ];
}
