import { createHash, randomBytes } from 'node:crypto';
import { type ApiKey, type AuditAction, createApiError, generateApiKey } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import type { Actor } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { runInTransaction } from '../store/transaction.ts';
import { isUuid } from '../store/uuid.ts';
import { type ApiKeyRow, insertApiKey, listApiKeyRows, markApiKeyRevoked } from './rows.ts';

type Scope = { readonly organizationId: string };
/** An organization and the actor in it. `keyId` is null if the service itself creates the key. */
type ActingScope = Scope & Partial<Actor>;

/** Hashes a key for storage. Keys have 256 bits of randomness, so one round of SHA-256 suffices. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

export async function listApiKeys(context: { db: Database }, scope: Scope): Promise<ApiKey[]> {
  const rows = await listApiKeyRows(context.db, scope.organizationId);
  return rows.map(toApiKey);
}

/** Creates an API key, or stores the given key (for an unattended installation). A private key is returned only here. */
export async function createApiKey(
  context: { db: Database; now: () => Date; newId: () => string },
  scope: ActingScope,
  request: { kind: 'private' | 'public'; name: string; expiresInSeconds?: number | null | undefined; key?: string },
): Promise<ApiKey & { key: string }> {
  const key = request.key ?? generateApiKey(request.kind, randomBytes(128));
  const now = context.now();
  const seconds = request.expiresInSeconds ?? null;
  const row: ApiKeyRow = {
    id: context.newId(),
    organization_id: scope.organizationId,
    kind: request.kind,
    name: request.name,
    start: key.slice(0, request.kind === 'private' ? 7 : 11),
    hash: hashApiKey(key),
    public_key: request.kind === 'public' ? key : null,
    created_at: now,
    expires_at: seconds === null ? null : new Date(now.getTime() + seconds * 1000),
    last_used_at: null,
    revoked_at: null,
  };
  await runInTransaction(context.db, async (db) => {
    await insertApiKey(db, row);
    await record(db, scope, row, { at: now, action: 'keys.create', result: 'done' });
  });
  return { ...toApiKey(row), key };
}

/** Revokes a key. Does nothing if the key is already revoked. @throws failure `key-not-found` */
export async function revokeApiKey(
  context: { db: Database; now: () => Date },
  scope: ActingScope,
  keyId: string,
): Promise<ApiKey> {
  if (!isUuid(keyId)) throw createApiError('key-not-found');
  return runInTransaction(context.db, async (db) => {
    const at = context.now();
    const row = await markApiKeyRevoked(db, scope.organizationId, keyId, at);
    if (row === undefined) throw createApiError('key-not-found');
    const result = row.revoked_at?.getTime() === at.getTime() ? 'done' : 'unchanged';
    await record(db, scope, row, { at, action: 'keys.revoke', result });
    return toApiKey(row);
  });
}

function record(
  db: Database,
  scope: ActingScope,
  key: Pick<ApiKeyRow, 'id' | 'name'>,
  what: { readonly at: Date; readonly action: AuditAction; readonly result: string },
): Promise<void> {
  const about = { object: key.id, keys: [key.name], region: null, revisionBefore: null, revisionAfter: null };
  return appendAudit(db, scope.organizationId, { ...what, ...about, actor: { keyId: null, ...scope } });
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    start: row.start,
    key: row.public_key,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
