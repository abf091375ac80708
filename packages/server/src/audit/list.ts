import type { AuditEntry, Operations, RequestOf, ResponseOf } from '@bothost/contract';
import { createCursorError } from '../store/cursor-error.ts';
import type { Database } from '../store/tables.ts';
import { type AuditRow, listEventPage } from './rows.ts';

type List = Operations['listAuditEntries'];

/** Returns a page of the log and a cursor. @throws failure `invalid-request` for an invalid cursor */
export async function listAuditEntries(
  context: { readonly db: Database },
  scope: { readonly organizationId: string },
  query: RequestOf<List>['query'],
): Promise<ResponseOf<List>> {
  const { limit, order, since, until } = query;
  const filter = {
    since: since === undefined ? null : new Date(since),
    until: until === undefined ? null : new Date(until),
    action: query.action ?? null,
    object: query.object ?? null,
    actor: query.actor ?? null,
    result: query.result ?? null,
  };
  const beyond = query.cursor === undefined ? null : parseCursor(query.cursor);
  const rows = await listEventPage(context.db, scope.organizationId, filter, { order, beyond, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { entries: shown.map(toAuditEntry), nextCursor: last === undefined ? null : String(last.sequence) };
}

function parseCursor(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw createCursorError();
  return Number(text);
}

function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    sequence: row.sequence,
    at: row.at.toISOString(),
    keyId: row.actor_key_id,
    keyName: row.actor_key_name,
    userId: row.actor_user_id,
    userEmail: row.actor_user_email,
    address: row.address,
    organizationId: row.organization_id,
    region: row.region,
    action: row.action,
    object: row.object,
    keys: row.keys,
    revisionBefore: row.revision_before,
    revisionAfter: row.revision_after,
    result: row.result,
    count: row.count,
    requestId: row.request_id,
    previousHash: row.previous_hash.toString('hex'),
    hash: row.hash.toString('hex'),
  };
}
