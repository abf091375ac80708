import { ApiError, createApiError } from '@bothost/contract';
import type { PersonIdentity } from '../audit/chain.ts';
import type { Refusal, RefusalLog } from '../audit/refusals.ts';
import { listMemberships } from '../organizations/members.ts';
import type { Database } from '../store/tables.ts';
import {
  type AccountRequest,
  getAuditRequestFields,
  type PersonPrincipal,
  toAuditActor,
  toSignInActor,
} from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import { type BetterAuth, createBetterAuthHeaders, getBetterAuthErrorCode, requireHttpsOrLoopback } from './auth.ts';
import { limitAttempts, toClientNetwork } from './rate-limits.ts';
import { deleteDeviceTokens, deletePersonalToken, deleteSession, deleteSessions, findUserByEmail } from './rows.ts';

type Context = { readonly db: Database; readonly now: () => Date; readonly auth: BetterAuth };

/** The person and the session of a request's cookie. Null if there is no valid session. */
export async function findSession(
  { auth }: Pick<Context, 'auth'>,
  accountRequest: AccountRequest,
): Promise<{ readonly person: PersonIdentity; readonly sessionId: string } | null> {
  const { api } = await auth.of(accountRequest);
  const { headers, response } = await api
    .getSession({ headers: createBetterAuthHeaders(accountRequest), returnHeaders: true })
    .catch((error: unknown) => {
      // better-auth wraps a database error in its own error. Throw the cause, so that the failure does not look like an invalid
      // session.
      throw error instanceof Error && error.cause !== undefined ? error.cause : error;
    });
  if (response === null) return null;
  // Send the new cookie to the browser: once a day, better-auth extends the session and renews its cookie.
  accountRequest.setCookies(headers.getSetCookie());
  const { user, session } = response;
  return { person: { id: user.id, email: user.email }, sessionId: session.id };
}

/**
 * Signs in and returns the id of the user. Opens a new session and adds its cookie to the response. If the request contains the
 * cookie of an older session, ends that session, so that an attacker who knows the old cookie is not signed in (session
 * fixation). A failure is recorded in the audit log of each organization of the account, if the account exists.
 *
 * @throws failure `sign-in-failed`, `sign-in-needs-tls`, `too-many-attempts`
 */
export async function signIn(
  context: Context & { readonly refusals: Pick<RefusalLog, 'record'> },
  accountRequest: AccountRequest,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  requireHttpsOrLoopback(accountRequest);
  await limitAttempts(context.db, 'sign-in address', toClientNetwork(accountRequest.address));
  await limitAttempts(context.db, 'sign-in account', email);
  try {
    return await openSession(context, accountRequest, { email, password });
  } catch (error) {
    const failure = getBetterAuthErrorCode(error) === null ? error : createApiError('sign-in-failed');
    if (failure instanceof ApiError) {
      // Do not wait: the time of the response would reveal whether the account exists.
      void context.refusals.record(() => findFailedSignIns(context, accountRequest, email, failure));
    }
    throw failure;
  }
}

/** The actor has no person, because the request is not authenticated. */
async function findFailedSignIns(
  { db }: Context,
  accountRequest: AccountRequest,
  email: string,
  { reason }: ApiError,
): Promise<Refusal[]> {
  const user = await findUserByEmail(db, email);
  if (user === undefined) return [];
  const actor = { keyId: null, ...getAuditRequestFields(accountRequest) };
  const refusal = { actor, action: 'account.sign-in', object: user.id, keys: [email], result: reason } as const;
  return (await listMemberships({ db }, user.id)).map(({ id }) => ({ ...refusal, organizationId: id }));
}

/** Opens a browser session like `signIn`, but without rate limits. Call this directly only for a password that was just set. */
export async function openSession(
  context: Context,
  accountRequest: AccountRequest,
  credentials: { readonly email: string; readonly password: string },
): Promise<string> {
  const { auth, db } = context;
  const former =
    accountRequest.cookie === undefined
      ? null
      : await findSession({ auth }, { ...accountRequest, setCookies: () => {} });
  const { headers, response } = await (await auth.of(accountRequest)).api.signInEmail({
    body: credentials,
    headers: createBetterAuthHeaders(accountRequest),
    returnHeaders: true,
  });
  const { id, email } = response.user;
  // Write the audit entry before the response has the cookie, because a session cannot be used without its cookie.
  await db.transaction().execute(async (db) => {
    if (former !== null) await deleteSession(db, former.sessionId);
    const event = { action: 'account.sign-in', object: id, keys: ['password'] } as const;
    await recordAccountEvent({ ...context, db }, id, toSignInActor(accountRequest, { id, email }), event);
  });
  accountRequest.setCookies(headers.getSetCookie());
  return id;
}

/** Ends the session, or revokes the personal token, that authenticates the request. */
export async function signOut(context: Context, caller: PersonPrincipal): Promise<void> {
  const { credential, person } = caller;
  await context.db.transaction().execute(async (db) => {
    if (credential.kind === 'personal-token') await deletePersonalToken(db, person.id, credential.id);
    else await deleteSession(db, credential.id);
    await recordAccountEvent({ ...context, db }, person.id, toAuditActor(caller), { action: 'account.sign-out' });
  });
  if (credential.kind === 'session') await removeCookies(context, caller);
}

async function removeCookies({ auth }: Pick<Context, 'auth'>, caller: PersonPrincipal): Promise<void> {
  const { headers } = await (await auth.of(caller)).api.signOut({
    headers: createBetterAuthHeaders(caller),
    returnHeaders: true,
  });
  caller.setCookies(headers.getSetCookie());
}

/** Ends all browser sessions and device logins of a person. Tokens that the person created stay valid. */
export async function signOutEverywhere(context: Context, caller: PersonPrincipal): Promise<void> {
  const { id } = caller.person;
  await context.db.transaction().execute(async (db) => {
    await deleteSessions(db, id, null);
    await deleteDeviceTokens(db, id);
    await recordAccountEvent({ ...context, db }, id, toAuditActor(caller), { action: 'account.sign-out-everywhere' });
  });
  await removeCookies(context, caller);
}

/** Checks the password of a person who is signed in. @throws failure `sign-in-failed`, `too-many-attempts` */
export async function requirePassword(
  { auth, db }: Context,
  caller: PersonPrincipal,
  hash: string | null,
  password: string,
): Promise<void> {
  await limitAttempts(db, 'password person', caller.person.id);
  const { password: hashing } = await (await auth.of(caller)).$context;
  if (hash === null || !(await hashing.verify({ hash, password }))) throw createApiError('sign-in-failed');
}
