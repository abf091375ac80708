import { createApiError } from '@bothost/contract';
import type { PersonIdentity } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import type { AccountRequest, PersonPrincipal } from './account-request.ts';
import { type BetterAuth, createBetterAuthHeaders, getBetterAuthErrorCode, requireHttpsOrLoopback } from './auth.ts';
import { limitAttempts, toClientNetwork } from './rate-limits.ts';
import { deleteDeviceTokens, deletePersonalToken, deleteSession, deleteSessions } from './rows.ts';

type Context = { readonly db: Database; readonly auth: BetterAuth };

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
 * fixation).
 *
 * @throws failure `sign-in-failed`, `sign-in-needs-tls`, `too-many-attempts`
 */
export async function signIn(
  context: Context,
  accountRequest: AccountRequest,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<string> {
  requireHttpsOrLoopback(accountRequest);
  await limitAttempts(context.db, 'sign-in address', toClientNetwork(accountRequest.address));
  await limitAttempts(context.db, 'sign-in account', email);
  try {
    return await openSession(context, accountRequest, { email, password });
  } catch (error) {
    if (getBetterAuthErrorCode(error) === null) throw error;
    throw createApiError('sign-in-failed');
  }
}

/** Opens a browser session like `signIn`, but without rate limits. Call this directly only for a password that was just set. */
export async function openSession(
  { auth, db }: Context,
  accountRequest: AccountRequest,
  credentials: { readonly email: string; readonly password: string },
): Promise<string> {
  const former =
    accountRequest.cookie === undefined
      ? null
      : await findSession({ auth }, { ...accountRequest, setCookies: () => {} });
  const { headers, response } = await (await auth.of(accountRequest)).api.signInEmail({
    body: credentials,
    headers: createBetterAuthHeaders(accountRequest),
    returnHeaders: true,
  });
  if (former !== null) await deleteSession(db, former.sessionId);
  accountRequest.setCookies(headers.getSetCookie());
  return response.user.id;
}

/** Ends the session, or revokes the personal token, that authenticates the request. */
export async function signOut({ auth, db }: Context, caller: PersonPrincipal): Promise<void> {
  if (caller.credential.kind === 'personal-token') {
    await deletePersonalToken(db, caller.person.id, caller.credential.id);
    return;
  }
  const { headers } = await (await auth.of(caller)).api.signOut({
    headers: createBetterAuthHeaders(caller),
    returnHeaders: true,
  });
  caller.setCookies(headers.getSetCookie());
}

/**
 * Ends all browser sessions of a person, and deletes the tokens of the person's device logins. Tokens that the person created
 * stay valid.
 */
export async function signOutEverywhere({ auth, db }: Context, caller: PersonPrincipal): Promise<void> {
  await db.transaction().execute(async (db) => {
    await deleteSessions(db, caller.person.id, null);
    await deleteDeviceTokens(db, caller.person.id);
  });
  const { headers } = await (await auth.of(caller)).api.signOut({
    headers: createBetterAuthHeaders(caller),
    returnHeaders: true,
  });
  caller.setCookies(headers.getSetCookie());
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
