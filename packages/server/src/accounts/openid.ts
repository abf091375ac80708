import { createApiError, type Operations, type RequestOf, type User } from '@bothost/contract';
import type { StoreContext } from '../store/store-context.ts';
import { type AccountRequest, toSignInActor } from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import { type BetterAuth, createBetterAuthHeaders, getBetterAuthErrorCode, requireHttpsOrLoopback } from './auth.ts';
import { type OpenIdProvider, openIdProviderId } from './auth-options.ts';
import { limitAttempts, toClientNetwork } from './rate-limits.ts';
import { deleteSession } from './rows.ts';
import { findSession } from './sessions.ts';
import { getUser } from './user.ts';

type Context = Pick<StoreContext, 'db' | 'now'> & {
  readonly auth: BetterAuth;
  readonly openId: OpenIdProvider | null;
};

/**
 * Returns the URL of the OpenID Connect provider's sign-in page. Sets a cookie, so that only this browser can use the
 * provider's response.
 *
 * @throws failure `openid-unavailable`, `sign-in-needs-tls`, `too-many-attempts`
 */
export async function startOpenIdSignIn(context: Context, accountRequest: AccountRequest): Promise<{ url: string }> {
  requireHttpsOrLoopback(accountRequest);
  if (context.openId === null) throw createApiError('openid-unavailable');
  await limitAttempts(context.db, 'openid address', toClientNetwork(accountRequest.address));
  const body = { provider: openIdProviderId, callbackURL: '/', disableRedirect: true };
  const { headers, response } = await (await context.auth.of(accountRequest)).api
    .signInSocial({ body, headers: createBetterAuthHeaders(accountRequest), returnHeaders: true })
    .catch((error: unknown) => {
      throw getBetterAuthErrorCode(error) === null ? error : createApiError('openid-unavailable', { cause: error });
    });
  if (response.url === undefined) throw createApiError('openid-unavailable');
  accountRequest.setCookies(headers.getSetCookie());
  return { url: response.url };
}

/**
 * Signs in with the response of the OpenID Connect provider, and creates an account for a new person.
 *
 * @throws failure `openid-failed`, `openid-unavailable`, `sign-in-needs-tls`, `too-many-attempts`; `email-taken` if an
 * account with a password has the same e-mail address
 */
export async function finishOpenIdSignIn(
  context: Context,
  accountRequest: AccountRequest,
  query: RequestOf<Operations['finishOpenIdSignIn']>['body'],
): Promise<User> {
  requireHttpsOrLoopback(accountRequest);
  if (context.openId === null) throw createApiError('openid-unavailable');
  await limitAttempts(context.db, 'openid address', toClientNetwork(accountRequest.address));
  const former = await findSession(context, { ...accountRequest, setCookies: () => {} });
  const response = await (await context.auth.of(accountRequest)).api.callbackOAuth({
    method: 'GET',
    params: { id: openIdProviderId },
    query: { code: query.code, state: query.state, ...(query.iss === undefined ? {} : { iss: query.iss }) },
    headers: createBetterAuthHeaders(accountRequest),
    asResponse: true,
  });
  const cookies = response.headers.getSetCookie();
  const location = new URL(response.headers.get('location') ?? '/', accountRequest.serviceUrl);
  const problem = location.searchParams.get('error');
  if (problem !== null || response.status !== 302) {
    accountRequest.setCookies(cookies);
    throw createApiError(problem?.toLowerCase() === 'account_not_linked' ? 'email-taken' : 'openid-failed', {
      cause: new Error(`the OpenID Connect sign-in failed: ${problem ?? `status ${response.status}`}`),
    });
  }
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ');
  const session = await findSession(context, { ...accountRequest, cookie, setCookies: () => {} });
  if (session === null) throw createApiError('openid-failed');
  const { person } = session;
  await context.db.transaction().execute(async (db) => {
    if (former !== null) await deleteSession(db, former.sessionId);
    const event = { action: 'account.sign-in', object: person.id, keys: [context.openId?.name ?? ''] } as const;
    await recordAccountEvent({ ...context, db }, person.id, toSignInActor(accountRequest, person), event);
  });
  accountRequest.setCookies(cookies);
  return getUser(context, person.id);
}
