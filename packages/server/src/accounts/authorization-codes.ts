import { createHash, randomBytes } from 'node:crypto';
import {
  accountCredentialLifetimeSeconds,
  createApiError,
  type Operations,
  type RequestOf,
  type ResponseOf,
} from '@bothost/contract';
import { z } from 'zod';
import type { Database } from '../store/tables.ts';
import { type AccountRequest, type PersonPrincipal, toAuditActor, toSignInActor } from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import { consumeAuthorizationCode, findUser, insertAuthorizationCode } from './rows.ts';
import { createPersonalToken } from './tokens.ts';

type Context = { readonly db: Database; readonly now: () => Date; readonly newId: () => string };

/** The stored form of an authorization code: the person, redirect URI and PKCE challenge that the code is valid for. */
const Authorization = z.object({ userId: z.string(), redirectUri: z.string(), codeChallenge: z.string() });

/**
 * Returns the client's redirect URL with an authorization code (RFC 6749, section 4.1.2), or with the error of a denied login.
 */
export async function decideAuthorization(
  context: Context,
  caller: PersonPrincipal,
  body: RequestOf<Operations['decideAuthorization']>['body'],
): Promise<ResponseOf<Operations['decideAuthorization']>> {
  const { db, now, newId } = context;
  const { id: userId } = caller.person;
  const record = (inside: Context) =>
    recordAccountEvent(inside, userId, toAuditActor(caller), {
      action: 'account.decide-login',
      keys: [body.approve ? 'approved' : 'denied', body.client_id],
    });
  const url = new URL(body.redirect_uri);
  if (body.state !== undefined) url.searchParams.set('state', body.state);
  if (!body.approve) {
    await db.transaction().execute((db) => record({ ...context, db }));
    url.searchParams.set('error', 'access_denied');
    return { redirectUrl: url.href };
  }
  const code = randomBytes(32).toString('base64url');
  const authorization: z.infer<typeof Authorization> = {
    userId,
    redirectUri: body.redirect_uri,
    codeChallenge: body.code_challenge,
  };
  const at = now();
  const row = {
    id: newId(),
    identifier: identifierOf(code),
    value: JSON.stringify(authorization),
    expires_at: new Date(at.getTime() + accountCredentialLifetimeSeconds.authorizationCode * 1_000),
  };
  await db.transaction().execute(async (db) => {
    await insertAuthorizationCode(db, row, at);
    await record({ ...context, db });
  });
  url.searchParams.set('code', code);
  return { redirectUrl: url.href };
}

/**
 * Exchanges an authorization code for a personal token. The first attempt uses up the code even if it fails, so that a program
 * that intercepts the code cannot guess the PKCE verifier (RFC 7636, section 4.6).
 *
 * @throws failure `authorization-code-invalid`, `personal-tokens-too-many`
 */
export async function exchangeAuthorizationCode(
  context: Context,
  accountRequest: AccountRequest,
  body: RequestOf<Operations['exchangeAuthorizationCode']>['body'],
): Promise<ResponseOf<Operations['exchangeAuthorizationCode']>> {
  const value = await consumeAuthorizationCode(context.db, identifierOf(body.code), context.now());
  if (value === undefined) throw createApiError('authorization-code-invalid');
  const { userId, redirectUri, codeChallenge } = Authorization.parse(JSON.parse(value));
  if (redirectUri !== body.redirect_uri || codeChallenge !== digestOf(body.code_verifier)) {
    throw createApiError('authorization-code-invalid');
  }
  const user = await findUser(context.db, userId);
  if (user === undefined) throw createApiError('authorization-code-invalid');
  const actor = toSignInActor(accountRequest, { id: userId, email: user.email });
  const { token } = await createPersonalToken(context, userId, actor, {
    name: "Pipecat Cloud's CLI",
    createdBy: 'device-login',
    expiresInSeconds: accountCredentialLifetimeSeconds.deviceToken,
  });
  const expiresIn = accountCredentialLifetimeSeconds.deviceToken;
  return { access_token: token, token_type: 'Bearer', expires_in: expiresIn, refresh_token: token };
}

/** Returns the key under which an authorization code is stored. The key contains only a hash of the code. */
function identifierOf(code: string): string {
  return `authorization-code:${digestOf(code)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
