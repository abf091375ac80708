import {
  accountCredentialLifetimeSeconds,
  createApiError,
  type ErrorReason,
  type Operations,
  type RequestOf,
  type ResponseOf,
} from '@bothost/contract';
import type { StoreContext } from '../store/store-context.ts';
import { type AccountRequest, type PersonPrincipal, toAuditActor, toSignInActor } from './account-request.ts';
import { recordAccountEvent } from './audit.ts';
import { type BetterAuth, createBetterAuthHeaders, getBetterAuthErrorCode } from './auth.ts';
import { limitAttempts, toClientNetwork } from './rate-limits.ts';
import { deleteSession, findDeviceLogin, findDeviceName, updateDeviceLoginDetails } from './rows.ts';
import { createPersonalToken } from './tokens.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  readonly auth: BetterAuth;
};
type DeviceLogin = ResponseOf<Operations['getDeviceLogin']>;

/** Starts a device login and returns its codes. @throws failure `too-many-attempts` */
export async function startDeviceLogin(
  { db, auth }: Context,
  accountRequest: AccountRequest,
  body: RequestOf<Operations['startDeviceLogin']>['body'],
): Promise<ResponseOf<Operations['startDeviceLogin']>> {
  await limitAttempts(db, 'device-login address', toClientNetwork(accountRequest.address));
  const started = await (await auth.of(accountRequest)).api.deviceCode({ body: { client_id: body.client_id } });
  await updateDeviceLoginDetails(db, started.device_code, {
    device_name: body.device_name ?? null,
    address: accountRequest.address === '' ? null : accountRequest.address,
  });
  const page = `${accountRequest.serviceUrl}/device`;
  return {
    ...started,
    user_code: withHyphen(started.user_code),
    verification_uri: page,
    verification_uri_complete: `${page}?code=${withHyphen(started.user_code)}`,
  };
}

/** Maps the error codes of RFC 8628, section 3.5, to the reasons of failures. */
const pollFailures: Readonly<Record<string, ErrorReason>> = {
  authorization_pending: 'authorization-pending',
  slow_down: 'slow-down',
  expired_token: 'device-code-expired',
  access_denied: 'device-login-denied',
};

/**
 * Returns a personal token for an approved login, once. @throws failures of RFC 8628, such as `authorization-pending`
 */
export async function pollDeviceLogin(
  context: Context,
  accountRequest: AccountRequest,
  body: RequestOf<Operations['pollDeviceLogin']>['body'],
): Promise<ResponseOf<Operations['pollDeviceLogin']>> {
  const { db, auth } = context;
  const name = await findDeviceName(db, body.device_code);
  const { api, $context } = await auth.of(accountRequest);
  const approved = await api.deviceToken({ body }).catch((error: unknown) => {
    const code = getBetterAuthErrorCode(error);
    throw code === null ? error : createApiError(pollFailures[code] ?? 'device-code-invalid', { cause: error });
  });
  // better-auth opens a browser session for the device. Replace the session with a personal token, because the person can list
  // and revoke personal tokens.
  const session = await (await $context).internalAdapter.findSession(approved.access_token);
  if (session === null) throw createApiError('device-code-invalid');
  await deleteSession(db, session.session.id);
  const { id, email } = session.user;
  const { token } = await createPersonalToken(context, id, toSignInActor(accountRequest, { id, email }), {
    name: name ?? body.client_id,
    createdBy: 'device-login',
    expiresInSeconds: accountCredentialLifetimeSeconds.deviceToken,
  });
  return { access_token: token, token_type: 'Bearer', expires_in: accountCredentialLifetimeSeconds.deviceToken };
}

/** Returns a device login, but only to the first person who opens its page. @throws failure `device-login-not-found` */
export async function getDeviceLogin(
  { db, auth, now }: Context,
  caller: PersonPrincipal,
  userCode: string,
): Promise<DeviceLogin> {
  await limitAttempts(db, 'device-code person', caller.person.id);
  const code = plainCode(userCode);
  await (await auth.of(caller)).api
    .deviceVerify({ query: { user_code: code }, headers: createBetterAuthHeaders(caller) })
    .catch((error: unknown) => {
      throw getBetterAuthErrorCode(error) === null ? error : createApiError('device-login-not-found');
    });
  const row = await findDeviceLogin(db, code);
  if (row === undefined || row.user_id !== caller.person.id || row.expires_at <= now()) {
    throw createApiError('device-login-not-found');
  }
  return {
    userCode: withHyphen(row.user_code),
    clientId: row.client_id ?? '',
    deviceName: row.device_name,
    address: row.address,
    state: row.status,
    expiresAt: row.expires_at.toISOString(),
  };
}

/**
 * Approves or denies a pending device login.
 *
 * @throws failure `device-login-not-found`, also if the login was already approved or denied
 */
export async function decideDeviceLogin(
  context: Context,
  caller: PersonPrincipal,
  userCode: string,
  approve: boolean,
): Promise<DeviceLogin> {
  await getDeviceLogin(context, caller, userCode);
  const { api } = await context.auth.of(caller);
  const request = { body: { userCode: plainCode(userCode) }, headers: createBetterAuthHeaders(caller) };
  await (approve ? api.deviceApprove(request) : api.deviceDeny(request)).catch((error: unknown) => {
    throw getBetterAuthErrorCode(error) === null ? error : createApiError('device-login-not-found');
  });
  const decided = await getDeviceLogin(context, caller, userCode);
  const keys = [approve ? 'approved' : 'denied', decided.deviceName ?? decided.clientId];
  // The library writes the decision, so a killed server can leave it without this entry. The sign-in that follows has its own.
  await context.db.transaction().execute((db) =>
    recordAccountEvent({ ...context, db }, caller.person.id, toAuditActor(caller), {
      action: 'account.decide-login',
      keys,
    }),
  );
  return decided;
}

/** Formats a user code of eight characters as two groups, which are easier to compare. */
function withHyphen(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

function plainCode(code: string): string {
  return code.replace(/[^A-Za-z0-9]/g, '').toUpperCase();
}
