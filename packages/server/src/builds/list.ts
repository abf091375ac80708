import type { Operations, RequestOf, ResponseOf } from '@bothost/contract';
import { createCursorError } from '../store/cursor-error.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { toBuildResponse } from './build-response.ts';
import { countBuilds, listBuildPage } from './rows.ts';

type List = Operations['listBuilds'];

/**
 * Lists builds, newest first. With a cursor, new builds do not shift the later pages.
 *
 * @throws failure `invalid-request` for an invalid cursor
 */
export async function listBuilds(
  context: { db: Database },
  scope: { organizationId: string; serviceUrl: string },
  query: RequestOf<List>['query'],
): Promise<ResponseOf<List>> {
  const { limit, offset, cursor, ...fields } = query;
  const filter = { ...fields, organizationId: scope.organizationId };
  const after = cursor === undefined ? null : parseCursor(cursor);
  const [total, rows] = await Promise.all([
    countBuilds(context.db, filter),
    listBuildPage(context.db, filter, { limit, offset, after }),
  ]);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return {
    builds: rows.map((row) => toBuildResponse(row, scope.serviceUrl)),
    total,
    limit,
    offset,
    nextCursor: last === undefined ? null : `${last.created_at.getTime()}.${last.id}`,
  };
}

function parseCursor(text: string): { createdAt: Date; id: string } {
  const [, time, id] = /^(\d{1,13})\.(.{36})$/.exec(text) ?? [];
  if (time === undefined || id === undefined || !isUuid(id)) throw createCursorError();
  return { createdAt: new Date(Number(time)), id };
}
