import { createApiError, type User } from '@bothost/contract';
import { listMemberships } from '../organizations/members.ts';
import type { StoreContext } from '../store/store-context.ts';
import { type AccountRequest, type PersonPrincipal, toAuditActor } from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import type { BetterAuth } from './auth.ts';
import { requireStrongPassword } from './passwords.ts';
import {
  deletePasswordResets,
  deleteSessions,
  findPasswordHash,
  findUser,
  findUserByEmail,
  passwordProviderId,
  storePassword,
  updateUserRow,
} from './rows.ts';
import { requirePassword } from './sessions.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  readonly auth: BetterAuth;
};

/** A person with their organizations. @throws failure `session-expired` if the account was deleted */
export async function getUser({ db }: Pick<Context, 'db'>, userId: string): Promise<User> {
  const user = await findUser(db, userId);
  if (user === undefined) throw createApiError('session-expired');
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    hasPassword: (await findPasswordHash(db, userId)) !== null,
    organizations: await listMemberships({ db }, userId),
  };
}

export async function renameUser(context: Context, caller: PersonPrincipal, name: string): Promise<User> {
  const { id } = caller.person;
  await context.db.transaction().execute(async (db) => {
    await updateUserRow(db, id, { name, updated_at: context.now() });
    const event = { action: 'account.rename', object: id, keys: [name] } as const;
    await recordAccountEvent({ ...context, db }, id, toAuditActor(caller), event);
  });
  return getUser(context, id);
}

/**
 * Changes a person's e-mail address.
 *
 * @throws failure `sign-in-failed` for a wrong password, `email-taken`, `too-many-attempts`
 */
export async function changeEmail(
  context: Context,
  caller: PersonPrincipal,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<User> {
  const { id } = caller.person;
  await requirePassword(context, caller, await findPasswordHash(context.db, id), password);
  const other = await findUserByEmail(context.db, email);
  if (other !== undefined && other.id !== id) throw createApiError('email-taken');
  await context.db.transaction().execute(async (db) => {
    await updateUserRow(db, id, { email, email_verified: false, updated_at: context.now() });
    const event = { action: 'account.change-email', object: id, keys: [caller.person.email, email] } as const;
    await recordAccountEvent({ ...context, db }, id, toAuditActor(caller), event);
  });
  return getUser(context, id);
}

/**
 * Sets a new password and ends all other sessions.
 *
 * @throws failure `sign-in-failed` for a wrong current password, `password-too-weak`, `too-many-attempts`
 */
export async function changePassword(
  context: Context,
  caller: PersonPrincipal,
  { currentPassword, newPassword }: { readonly currentPassword: string; readonly newPassword: string },
): Promise<User> {
  const { id, email } = caller.person;
  await requirePassword(context, caller, await findPasswordHash(context.db, id), currentPassword);
  await requireStrongPassword(newPassword, email);
  const password = await hashPassword(context, caller, newPassword);
  await context.db.transaction().execute(async (db) => {
    await setPassword({ ...context, db }, id, password);
    await deleteSessions(db, id, caller.credential.id);
    await deletePasswordResets(db, id);
    await recordAccountEvent({ ...context, db }, id, toAuditActor(caller), {
      action: 'account.change-password',
      object: id,
    });
  });
  return getUser(context, id);
}

/** Hashes a password with scrypt. This takes a few hundred milliseconds, so call it outside of a transaction. */
export async function hashPassword(
  { auth }: Pick<Context, 'auth'>,
  accountRequest: AccountRequest,
  password: string,
): Promise<string> {
  return (await (await auth.of(accountRequest)).$context).password.hash(password);
}

export async function setPassword(
  { db, now, newId }: Pick<Context, 'db' | 'now' | 'newId'>,
  userId: string,
  hash: string,
): Promise<void> {
  const at = now();
  await storePassword(db, {
    id: newId(),
    user_id: userId,
    provider_id: passwordProviderId,
    account_id: userId,
    password: hash,
    created_at: at,
    updated_at: at,
  });
}
