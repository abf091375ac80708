import { createHash, randomBytes } from 'node:crypto';
import { type ApiKey, failure, makeKey } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../uuid.ts';
import { type ApiKeyRow, insertKey, keysOf, revoke } from './rows.ts';

type Scope = { readonly organizationId: string };

/** What is stored of a key. Keys carry 256 bits of randomness, so one round of SHA-256 is enough. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

export async function listKeys(context: { db: Database }, scope: Scope): Promise<ApiKey[]> {
  const rows = await keysOf(context.db, scope.organizationId);
  return rows.map(present);
}

/** Makes a key, or stores the one given (unattended install). The answer is the only place where the key ever appears. */
export async function createKey(
  context: { db: Database; now: () => Date; newId: () => string },
  scope: Scope,
  wanted: { kind: 'private' | 'public'; name: string; expiresInSeconds?: number | null | undefined; key?: string },
): Promise<ApiKey & { key: string }> {
  const key = wanted.key ?? makeKey(wanted.kind, randomBytes(128));
  const now = context.now();
  const seconds = wanted.expiresInSeconds ?? null;
  const row: ApiKeyRow = {
    id: context.newId(),
    organization_id: scope.organizationId,
    kind: wanted.kind,
    name: wanted.name,
    start: key.slice(0, wanted.kind === 'private' ? 7 : 11),
    hash: hashKey(key),
    created_at: now,
    expires_at: seconds === null ? null : new Date(now.getTime() + seconds * 1000),
    last_used_at: null,
    revoked_at: null,
  };
  await insertKey(context.db, row);
  return { ...present(row), key };
}

/** Revoking a revoked key changes nothing. Another organization's key does not exist. */
export async function revokeKey(
  context: { db: Database; now: () => Date },
  scope: Scope,
  keyId: string,
): Promise<ApiKey> {
  const row = isUuid(keyId) ? await revoke(context.db, scope.organizationId, keyId, context.now()) : undefined;
  if (row === undefined) throw failure('key-not-found');
  return present(row);
}

function present(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    start: row.start,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
