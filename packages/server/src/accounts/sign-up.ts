import { createApiError, type User } from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import { addMember } from '../organizations/members.ts';
import type { StoreContext } from '../store/store-context.ts';
import { type AccountRequest, type PersonPrincipal, toAuditActor, toSignInActor } from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import { type BetterAuth, requireHttpsOrLoopback } from './auth.ts';
import { findValidLink, redeemLink } from './links.ts';
import { requireStrongPassword } from './passwords.ts';
import { deletePasswordResets, deleteSessions, findUser, insertUser, type OneTimeLinkRow } from './rows.ts';
import { openSession } from './sessions.ts';
import { getUser, hashPassword, setPassword } from './user.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  readonly auth: BetterAuth;
};

/**
 * Creates an account with an invitation, joins its organization, and signs in. The link works once.
 *
 * @throws failure `link-invalid`, `email-taken`, `password-too-weak`, `sign-in-needs-tls`, `too-many-attempts`
 */
export async function signUp(
  context: Context,
  accountRequest: AccountRequest,
  request: { readonly token: string; readonly email: string; readonly name: string; readonly password: string },
): Promise<User> {
  requireHttpsOrLoopback(accountRequest);
  const { token, email, name, password } = request;
  const open = await findValidLink(context, accountRequest, token);
  requireAddressee(open, email);
  await requireStrongPassword(password, email);
  const hash = await hashPassword(context, accountRequest, password);
  const id = context.newId();
  await context.db.transaction().execute(async (db) => {
    const inside = { ...context, db };
    const link = await redeemLink(inside, token, 'invitation');
    const at = context.now();
    const isNew = await insertUser(db, { id, email, name, image: null, created_at: at, updated_at: at });
    if (!isNew) throw createApiError('email-taken');
    await setPassword(inside, id, hash);
    await join(inside, link, toSignInActor(accountRequest, { id, email }));
  });
  await openSession(context, accountRequest, { email, password });
  return getUser(context, id);
}

/**
 * Adds a person with an account to the organization of an invitation.
 *
 * @throws failure `link-invalid`, `too-many-attempts`
 */
export async function acceptInvitation(context: Context, caller: PersonPrincipal, token: string): Promise<User> {
  requireAddressee(await findValidLink(context, caller, token), caller.person.email);
  await context.db.transaction().execute(async (db) => {
    const inside = { ...context, db };
    await join(inside, await redeemLink(inside, token, 'invitation'), toAuditActor(caller));
  });
  return getUser(context, caller.person.id);
}

/**
 * Sets a new password with a reset link, ends all sessions of the person, and signs the person in.
 *
 * @throws failure `link-invalid`, `password-too-weak`, `sign-in-needs-tls`, `too-many-attempts`
 */
export async function resetPassword(
  context: Context,
  accountRequest: AccountRequest,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<User> {
  requireHttpsOrLoopback(accountRequest);
  const { user_id: userId } = await findValidLink(context, accountRequest, token);
  const user = userId === null ? undefined : await findUser(context.db, userId);
  if (user === undefined) throw createApiError('link-invalid');
  await requireStrongPassword(password, user.email);
  const hash = await hashPassword(context, accountRequest, password);
  await context.db.transaction().execute(async (db) => {
    await redeemLink({ ...context, db }, token, 'password-reset');
    await setPassword({ ...context, db }, user.id, hash);
    await deleteSessions(db, user.id, null);
    await deletePasswordResets(db, user.id);
    await recordAccountEvent({ ...context, db }, user.id, toSignInActor(accountRequest, user), {
      action: 'account.reset-password',
      object: user.id,
    });
  });
  await openSession(context, accountRequest, { email: user.email, password });
  return getUser(context, user.id);
}

/** Rejects an invitation for a different e-mail address, so that another person who has seen the link cannot use it. */
function requireAddressee(link: OneTimeLinkRow, email: string): void {
  if (link.purpose !== 'invitation' || (link.email !== null && link.email !== email))
    throw createApiError('link-invalid');
}

async function join(
  context: Context,
  { organization_id: organizationId, role }: OneTimeLinkRow,
  actor: Actor,
): Promise<void> {
  if (organizationId === null || role === null) throw createApiError('link-invalid');
  await addMember(context, { ...actor, organizationId }, role);
}
