import { failure, type Operations, type RequestOf, type ResponseOf } from '@bothost/contract';
import { findAgentId } from '../agents/find.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { countSessions, pageOfSessions, type SessionFilter } from './list-rows.ts';
import { presentSummary } from './present.ts';

type List = Operations['getSessions'];

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
  const agentId = await findAgentId(context.db, scope.organizationId, agentName);
  const filter: SessionFilter = {
    agentId,
    deploymentId: query.deploymentId,
    from: query.startTime === undefined ? undefined : new Date(query.startTime * 1000),
    to: query.endTime === undefined ? undefined : new Date(query.endTime * 1000),
    status: query.status,
    startType: query.startType,
    startSeconds: { least: query.startTimeMin, greatest: query.startTimeMax === 0 ? null : query.startTimeMax },
    endState: query.endState,
  };
  if (filter.deploymentId !== undefined && !isUuid(filter.deploymentId)) {
    return { total_count: 0, sessions: [], nextCursor: null };
  }
  const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
  const [total, rows] = await Promise.all([
    countSessions(context.db, filter),
    pageOfSessions(context.db, filter, { limit: query.limit, offset: query.offset, after }),
  ]);
  const last = rows.length === query.limit ? rows.at(-1) : undefined;
  return {
    total_count: total,
    sessions: rows.map(presentSummary),
    nextCursor: last === undefined ? null : encodeCursor({ createdAt: last.created_at, id: last.id }),
  };
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
  if (!isUuid(id) || !/^\d{4}-/.test(time) || Number.isNaN(createdAt.getTime()) || createdAt.toISOString() !== time) {
    throw failure('invalid-request', {
      issues: [{ path: 'query.cursor', message: 'The cursor does not belong to this list.' }],
    });
  }
  return { createdAt, id };
}
