import { createHash, randomBytes } from 'node:crypto';
import { createApiError, generateApiKey, type PersonalToken, userAccountLimits } from '@bothost/contract';
import type { Actor, PersonIdentity } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { type PersonPrincipal, toAuditActor } from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import {
  deletePersonalToken,
  findPersonalTokenByHash,
  insertPersonalToken,
  listPersonalTokenRows,
  type PersonalTokenRow,
  updatePersonalTokenLastUse,
} from './rows.ts';

type Context = { readonly db: Database; readonly now: () => Date; readonly newId: () => string };

/** Minimum interval between writes of `last_used_at`, in milliseconds. */
const touchIntervalMs = 60_000;

export async function listPersonalTokens({ db, now }: Context, userId: string): Promise<PersonalToken[]> {
  const rows = await listPersonalTokenRows(db, userId);
  return rows.filter((row) => !hasExpired(row, now())).map(toPersonalToken);
}

/**
 * Creates a personal token. Only this response contains the token, because the database stores only its hash. In the audit log,
 * the creation of a token by a login is a sign-in.
 *
 * @throws failure `personal-tokens-too-many`
 */
export async function createPersonalToken(
  context: Context,
  userId: string,
  actor: Actor,
  request: {
    readonly name: string;
    readonly createdBy: PersonalToken['createdBy'];
    readonly expiresInSeconds?: number | null | undefined;
  },
): Promise<PersonalToken & { token: string }> {
  if ((await listPersonalTokens(context, userId)).length >= userAccountLimits.personalTokens) {
    throw createApiError('personal-tokens-too-many');
  }
  const token = generateApiKey('personal', randomBytes(128));
  const now = context.now();
  const seconds = request.expiresInSeconds ?? null;
  const row: PersonalTokenRow = {
    id: context.newId(),
    user_id: userId,
    created_by: request.createdBy,
    name: request.name,
    start: token.slice(0, 12),
    hash: hashToken(token),
    created_at: now,
    expires_at: seconds === null ? null : new Date(now.getTime() + seconds * 1_000),
    last_used_at: null,
  };
  await context.db.transaction().execute(async (db) => {
    await insertPersonalToken(db, row);
    const action = request.createdBy === 'person' ? 'account.create-token' : 'account.sign-in';
    await recordAccountEvent({ ...context, db }, userId, actor, { action, object: row.id, keys: [row.name] });
  });
  return { ...toPersonalToken(row), token };
}

/** Deletes a token. @throws failure `personal-token-not-found`, also for another person's token */
export async function revokePersonalToken(
  context: Context,
  caller: PersonPrincipal,
  tokenId: string,
): Promise<PersonalToken> {
  const { id } = caller.person;
  return context.db.transaction().execute(async (db) => {
    const row = isUuid(tokenId) ? await deletePersonalToken(db, id, tokenId) : undefined;
    if (row === undefined) throw createApiError('personal-token-not-found');
    const event = { action: 'account.revoke-token', object: row.id, keys: [row.name] } as const;
    await recordAccountEvent({ ...context, db }, id, toAuditActor(caller), event);
    return toPersonalToken(row);
  });
}

/** The person of a valid token, else null. Reads the database, so that a revocation takes effect at once on all servers. */
export async function findTokenOwner(
  { db, now }: Pick<Context, 'db' | 'now'>,
  token: string,
): Promise<{ readonly person: PersonIdentity; readonly tokenId: string; readonly tokenName: string } | null> {
  const row = await findPersonalTokenByHash(db, hashToken(token));
  const at = now();
  if (row === undefined || hasExpired(row, at)) return null;
  if (at.getTime() - (row.last_used_at?.getTime() ?? 0) >= touchIntervalMs)
    await updatePersonalTokenLastUse(db, row.id, at);
  return { person: { id: row.user_id, email: row.email }, tokenId: row.id, tokenName: row.name };
}

function hasExpired({ expires_at }: PersonalTokenRow, now: Date): boolean {
  return expires_at !== null && expires_at.getTime() <= now.getTime();
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function toPersonalToken(row: PersonalTokenRow): PersonalToken {
  return {
    id: row.id,
    name: row.name,
    start: row.start,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}
