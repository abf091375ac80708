import type { IncomingMessage } from 'node:http';
import {
  apiKeyPrefixes,
  createApiError,
  getObjectFields,
  isAuthorizedForOperation,
  type Operation,
  type OperationGrantee,
  type Role,
  sessionCookieName,
} from '@bothost/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AccountRequest, type PersonPrincipal, toAuditActor } from '../../accounts/account-request.ts';
import type { PersonIdentity } from '../../audit/chain.ts';
import type { ApiAccessLevel, Authenticator, Caller } from '../../organizations/authenticate.ts';
import { hasMultipleAuthorizationHeaders, readBearerToken } from '../requests/bearer.ts';
import type { RequestClient } from '../requests/request-client.ts';
import { createRequestPrincipal } from './refused-request.ts';
import { requireSameOrigin } from './same-origin.ts';

export type RequestAuthenticationContext = {
  readonly resolveClient: (incoming: IncomingMessage) => RequestClient;
  readonly authenticator: Authenticator;
  readonly isOperator: (token: string) => boolean;
  readonly people: {
    readonly findSession: (
      accountRequest: AccountRequest,
    ) => Promise<{ person: PersonIdentity; sessionId: string } | null>;
    readonly findTokenOwner: (
      token: string,
    ) => Promise<{ person: PersonIdentity; tokenId: string; tokenName: string } | null>;
    readonly listOrganizationIds: (userId: string) => Promise<readonly string[]>;
    readonly findRole: (
      userId: string,
      organization: string,
    ) => Promise<{ id: string; name: string; role: Role } | null>;
  };
};

/**
 * Authenticates a request and checks who may call the operation. Sets a property of the request: `caller` for
 * operations of an organization, `person` for operations of a person, and `accountRequest` for operations without a credential.
 * Operations of the operator set none. `caller` is set before the check, so that the audit log also records refused requests.
 */
export async function authorize(
  context: RequestAuthenticationContext,
  operation: Pick<Operation, 'key' | 'method' | 'grantees'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const requireGrant = (grantee: OperationGrantee) => {
    if (!isAuthorizedForOperation(operation, grantee)) throw createApiError('forbidden');
  };
  const { key } = operation;
  if (key === 'operator') {
    await requireOperator(context, request);
    return requireGrant('operator');
  }
  if (key === 'none') {
    request.accountRequest = accountRequestOf(context, request, reply);
    if (operation.method !== 'GET') requireSameOrigin(request.raw, request.accountRequest, false);
    return requireGrant('unauthenticated');
  }
  const person = key === 'public' ? null : await findPerson(context, operation, request, reply);
  if (person === null) {
    const caller = await keyCallerOf(context, request, key === 'public' ? 'public' : 'private');
    const grantee = key === 'public' ? 'public-key' : 'private-key';
    request.caller = { ...createRequestPrincipal(caller, request), grantee };
    requireOwnOrganization(request, caller);
    return requireGrant(grantee);
  }
  if (key === 'person' || key === 'account') {
    request.person = person;
    return requireGrant(person.credential.kind);
  }
  const { organization } = getObjectFields(request.params);
  if (typeof organization !== 'string') throw createApiError('organization-missing');
  const membership = await context.people.findRole(person.person.id, organization);
  if (membership === null) throw createApiError('organization-not-found');
  request.caller = {
    organizationId: membership.id,
    organizationName: membership.name,
    ...toAuditActor(person),
    serviceUrl: person.serviceUrl,
    grantee: membership.role,
  };
  requireGrant(membership.role);
}

/** Requires a valid credential for a path that matches no operation. */
export async function requireCredential(
  context: RequestAuthenticationContext,
  request: FastifyRequest,
  reply: FastifyReply,
  level: ApiAccessLevel,
): Promise<void> {
  if (level === 'operator') return requireOperator(context, request);
  const person = level === 'public' ? null : await findPerson(context, { method: 'GET' }, request, reply);
  if (person === null) await keyCallerOf(context, request, level);
}

/** Requires the operator's token. An API key has no access, but its organization's audit log records the attempt. */
export async function requireOperator(
  context: Pick<RequestAuthenticationContext, 'authenticator' | 'isOperator'>,
  request: FastifyRequest,
): Promise<void> {
  if (context.isOperator(keyOf(request))) return;
  await keyCallerOf(context, request, 'operator');
  throw createApiError('key-invalid');
}

/**
 * The person behind a personal token or a session cookie. Null if the request has an API key or no credential. A cookie counts
 * only without an `Authorization` header.
 *
 * @throws failure `key-invalid`, `session-expired`, `cross-site-request`
 */
async function findPerson(
  context: Pick<RequestAuthenticationContext, 'people' | 'resolveClient'>,
  operation: Pick<Operation, 'method'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<PersonPrincipal | null> {
  const { people } = context;
  const { headers } = request.raw;
  const token = readBearerToken(request.raw);
  if (token?.startsWith(apiKeyPrefixes.personal)) {
    const owner = await people.findTokenOwner(token);
    if (owner === null) throw createApiError('key-invalid');
    const credential = { kind: 'personal-token', id: owner.tokenId, name: owner.tokenName } as const;
    return { ...accountRequestOf(context, request, reply), person: owner.person, credential };
  }
  if (headers.authorization !== undefined || headers.cookie?.includes(sessionCookieName) !== true) return null;
  const accountRequest = accountRequestOf(context, request, reply);
  // Check the origin, because browsers also send cookies with requests that pages of other sites make.
  if (operation.method !== 'GET') requireSameOrigin(request.raw, accountRequest, true);
  const session = await people.findSession(accountRequest);
  if (session === null) throw createApiError('session-expired');
  return { ...accountRequest, person: session.person, credential: { kind: 'session', id: session.sessionId } };
}

function accountRequestOf(
  { resolveClient }: Pick<RequestAuthenticationContext, 'resolveClient'>,
  request: FastifyRequest,
  reply: FastifyReply,
): AccountRequest {
  // Determine the client's address and the service URL here, because `request.client` does not exist if the request's path
  // cannot be decoded.
  const { address, serviceUrl } = resolveClient(request.raw);
  const { headers } = request.raw;
  const { host = '', 'x-forwarded-host': forwardedHost } = headers;
  return {
    address,
    requestId: request.id,
    serviceUrl,
    isPrivateConnection: serviceUrl.startsWith('https:') || isLoopbackHost(forwardedHost?.toString() ?? host),
    userAgent: headers['user-agent'],
    cookie: headers.cookie,
    setCookies: (cookies) => {
      for (const cookie of cookies) reply.header('set-cookie', cookie);
    },
  };
}

function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d*$/, '').toLowerCase();
  return /^(?:(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])$/.test(name);
}

function keyOf(request: FastifyRequest): string {
  const key = readBearerToken(request.raw);
  if (hasMultipleAuthorizationHeaders(request.raw)) {
    throw createApiError('key-missing', { message: 'The request has several Authorization headers. Send only one.' });
  }
  if (key === null) throw createApiError('key-missing');
  return key;
}

async function keyCallerOf(
  { authenticator }: Pick<RequestAuthenticationContext, 'authenticator'>,
  request: FastifyRequest,
  level: ApiAccessLevel,
): Promise<Caller> {
  const key = keyOf(request);
  return authenticator.cached(key, level) ?? (await authenticator.authenticate(key, level));
}

/** Checks that a private key is used only for its own organization. For any other, the response is 404. */
function requireOwnOrganization(request: FastifyRequest, caller: Caller): void {
  const { organization } = getObjectFields(request.params);
  if (typeof organization !== 'string' || organization === caller.organizationName) return;
  if (organization.toLowerCase() !== caller.organizationId) throw createApiError('organization-not-found');
}
