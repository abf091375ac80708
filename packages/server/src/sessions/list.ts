import { maxListedSessions, type Operations, type RequestOf, type ResponseOf } from '@bothost/contract';
import { findAgentId, requireAgentId } from '../agents/find.ts';
import { createCursorError } from '../store/cursor-error.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { countSessions, listSessionPage, type SessionFilter } from './list-rows.ts';
import { toListedSession } from './session-response.ts';

type List = Operations['getSessions'];
type ListAll = Operations['listOrganizationSessions'];

/**
 * Lists the sessions of an agent, newest first. Pages by cursor are stable while sessions are added.
 *
 * @throws failure `not-found`, `invalid-request`
 */
export async function listSessions(
  context: { db: Database },
  scope: { organizationId: string },
  agentName: string,
  query: RequestOf<List>['query'],
): Promise<ResponseOf<List>> {
  const agentId = await requireAgentId(context.db, scope.organizationId, agentName);
  if (query.deploymentId !== undefined && !isUuid(query.deploymentId)) {
    return { total_count: 0, sessions: [], nextCursor: null };
  }
  const filter: SessionFilter = {
    ...commonFilter(query),
    of: { agentId },
    deploymentId: query.deploymentId,
    startType: query.startType,
    startSeconds: { least: query.startTimeMin, greatest: query.startTimeMax === 0 ? null : query.startTimeMax },
    endStates: query.endState === undefined ? undefined : [query.endState],
  };
  const [total, page] = await Promise.all([countSessions(context.db, filter), readPage(context.db, filter, query)]);
  return { total_count: total, sessions: page.rows.map(toListedSession), nextCursor: page.nextCursor };
}

/**
 * Lists the sessions of all agents of an organization, including deleted agents, newest first.
 *
 * @throws failure `invalid-request`
 */
export async function listOrganizationSessions(
  context: { db: Database; now: () => Date },
  { organizationId }: { organizationId: string },
  query: RequestOf<ListAll>['query'],
): Promise<ResponseOf<ListAll>> {
  const agentId = query.agent === undefined ? null : await findAgentId(context.db, organizationId, query.agent);
  const { sessionId, deploymentId } = query;
  if (agentId === undefined || [sessionId, deploymentId].some((id) => id !== undefined && !isUuid(id))) {
    return { total: { value: 0, relation: 'eq' }, sessions: [], nextCursor: null };
  }
  const filter: SessionFilter = {
    ...commonFilter(query),
    of: agentId === null ? { organizationId } : { agentId },
    sessionId,
    deploymentId,
    completionStatus: query.completionStatus,
    exceptionType: query.exceptionType,
    failure: query.failure,
    durationSeconds: { least: query.durationMin, greatest: query.durationMax },
    now: context.now(),
    endStates: query.endState?.split(','),
  };
  const [count, page] = await Promise.all([
    countSessions(context.db, filter, maxListedSessions + 1),
    readPage(context.db, filter, query),
  ]);
  return {
    total: { value: Math.min(count, maxListedSessions), relation: count > maxListedSessions ? 'gte' : 'eq' },
    sessions: page.rows.map((row) => ({
      ...toListedSession(row),
      agentName: row.agent_name,
      agentDeleted: row.agent_deleted,
    })),
    nextCursor: page.nextCursor,
  };
}

type CommonQuery = {
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  readonly status: SessionFilter['status'];
  readonly responseTimeMin?: number | undefined;
  readonly interruptionsMin?: number | undefined;
  readonly errorsMin?: number | undefined;
};

function commonFilter({ startTime, endTime, status, ...query }: CommonQuery) {
  return {
    from: startTime === undefined ? undefined : new Date(Math.round(startTime * 1000)),
    to: endTime === undefined ? undefined : new Date(Math.round(endTime * 1000)),
    status,
    conversation: {
      responseP95Ms: query.responseTimeMin,
      interruptions: query.interruptionsMin,
      errors: query.errorsMin,
    },
  };
}

type PageQuery = { readonly limit: number; readonly offset: number; readonly cursor?: string | undefined };

async function readPage(db: Database, filter: SessionFilter, { limit, offset, cursor }: PageQuery) {
  const after = cursor === undefined ? null : decodeCursor(cursor);
  const rows = await listSessionPage(db, filter, { limit, offset, after });
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { rows, nextCursor: last === undefined ? null : encodeCursor({ createdAt: last.created_at, id: last.id }) };
}

type Cursor = { readonly createdAt: Date; readonly id: string };

function encodeCursor({ createdAt, id }: Cursor): string {
  return Buffer.from(`${createdAt.toISOString()} ${id}`).toString('base64url');
}

function decodeCursor(text: string): Cursor {
  const [time = '', id = ''] = Buffer.from(text, 'base64url').toString().split(' ');
  const createdAt = new Date(time);
  // Accept only the format that `encodeCursor` writes, because PostgreSQL may reject other date formats and years with
  // five digits.
  if (!isUuid(id) || !/^\d{4}-/.test(time) || Number.isNaN(createdAt.getTime()) || createdAt.toISOString() !== time)
    throw createCursorError();
  return { createdAt, id };
}
