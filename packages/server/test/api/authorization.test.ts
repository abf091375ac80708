import {
  allOperations,
  createApiClient,
  isAuthorizedForOperation,
  listOperationPaths,
  type Operation,
  type OperationGrantee,
} from '@bothost/contract';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { signUpPerson, type TestPerson } from '../support/people.ts';
import { useDatabase, useTestServer } from '../support/use-test-server.ts';

/**
 * A kind of caller: its credentials and its role in the organization `test-org`. `refusal` is the result if the
 * credentials are refused before the role is looked up.
 */
type CallerKind = {
  readonly headers: Record<string, string>;
  readonly role?: 'owner' | 'member' | 'viewer' | null;
  readonly person?: 'session' | 'personal-token';
  readonly key?: 'private-key' | 'public-key';
  readonly refusal?: string;
};

const service = await useTestServer({ bots: { guarded: {} } });
const db = await useDatabase(service);
const session = ({ cookie }: TestPerson) => ({ cookie: cookie(), 'sec-fetch-site': 'same-origin' });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const token = async ({ client }: TestPerson) => client.createPersonalToken({ body: { name: 'walk' } });

const owner = await signUpPerson(service, 'owner');
const member = await signUpPerson(service, 'member', 'member');
const viewer = await signUpPerson(service, 'viewer', 'viewer');
const removed = await signUpPerson(service, 'removed', 'owner');
const expired = await signUpPerson(service, 'expired', 'owner');
await owner.client.createOrganization({ body: { name: 'second' } });
const other = await signUpPerson(service, 'other', 'owner', 'second');
const removedToken = await token(removed);
const params = { userId: removed.user.id };
await createApiClient({
  origin: service.url,
  key: (await token(owner)).token,
  organization: 'test-org',
}).removeMember({
  params,
});
const revoked = await token(member);
await member.client.revokePersonalToken({ params: { tokenId: revoked.id } });
await sql`update user_sessions set expires_at = now() - interval '1 second'
  where user_id = ${expired.user.id}`.execute(db);

const callers: Record<string, CallerKind> = {
  owner: { headers: session(owner), role: 'owner', person: 'session' },
  member: { headers: session(member), role: 'member', person: 'session' },
  viewer: { headers: session(viewer), role: 'viewer', person: 'session' },
  "owner's token": { headers: bearer((await token(owner)).token), role: 'owner', person: 'personal-token' },
  "viewer's token": { headers: bearer((await token(viewer)).token), role: 'viewer', person: 'personal-token' },
  'other organization': { headers: session(other), role: null, person: 'session' },
  'removed member': { headers: session(removed), role: null, person: 'session' },
  "removed member's token": { headers: bearer(removedToken.token), role: null, person: 'personal-token' },
  'revoked token': { headers: bearer(revoked.token), refusal: '401 key-invalid' },
  'expired cookie': { headers: session(expired), refusal: '401 session-expired' },
  'forged cookie': {
    headers: { cookie: 'bothost.session_token=x.y', 'sec-fetch-site': 'same-origin' },
    refusal: '401 session-expired',
  },
  'private key': { headers: bearer(service.privateKey), key: 'private-key' },
  'public key': { headers: bearer(service.publicKey), key: 'public-key' },
  nothing: { headers: {}, refusal: '401 key-missing' },
};

/** Returns the expected result of a request: the status and reason of a refusal, or `allowed`. */
function expected(operation: Operation, path: string, caller: CallerKind): string {
  const grant = (grantee: OperationGrantee) =>
    isAuthorizedForOperation(operation, grantee) ? 'allowed' : '403 forbidden';
  const { key, person, role, refusal } = caller;
  if (operation.key === 'none') return grant('unauthenticated');
  const usesCookie = 'cookie' in caller.headers;
  // The public API and the operator's API accept neither cookies nor personal tokens.
  if (operation.key === 'public' || operation.key === 'operator') {
    if (operation.key === 'public' && key === 'public-key') return grant('public-key');
    return usesCookie || Object.keys(caller.headers).length === 0 ? '401 key-missing' : '401 key-invalid';
  }
  if (refusal !== undefined) return refusal;
  if (key === 'public-key') return '401 key-invalid';
  if (key === 'private-key') return grant('private-key');
  if (operation.key === 'person' || operation.key === 'account') return grant(person ?? 'session');
  if (!path.includes('{organization}')) return '400 organization-missing';
  return role ? grant(role) : '404 organization-not-found';
}

/** Each operation, paired with each of its paths. */
const routes = [
  ...Object.values(allOperations).flatMap((one: Operation) =>
    listOperationPaths(one).map((path) => [one, path] as const),
  ),
  [allOperations.signOut as Operation, '/auth/logout'] as const,
];

it.each(['/auth/config', '/.well-known/openid-configuration'])(
  'GET %s refuses every caller without TLS, whatever their credentials',
  async (path) => {
    const responses = Object.values(callers).map(async ({ headers }) => {
      const response = await fetch(service.url + path, { headers });
      return ((await response.json()) as { reason?: string }).reason;
    });
    expect(new Set(await Promise.all(responses))).toEqual(new Set(['authorization-needs-tls']));
  },
);

describe.each(routes)('authorization', (operation, path) => {
  it(`is checked for every caller of ${operation.method} ${path}`, async () => {
    const url = service.url + path.replace('{organization}', 'test-org').replace(/\{\w+\}/g, 'missing');
    const results: Record<string, string> = {};
    for (const [name, { headers }] of Object.entries(callers)) {
      // Send a body that is not JSON: the service parses it only after the authorization check, so an allowed request
      // changes nothing.
      const body = operation.bodyBytes > 0 ? { body: '{"broken' } : {};
      const response = await fetch(url, { method: operation.method, headers, ...body });
      const { reason } = (await response.json()) as { reason?: string };
      const refusal = `${response.status} ${reason}`;
      const isRefused = [401, 403].includes(response.status) || reason?.startsWith('organization-missing');
      results[name] = isRefused || reason === 'organization-not-found' ? refusal : 'allowed';
    }
    const wanted = Object.entries(callers).map(([name, caller]) => [name, expected(operation, path, caller)]);
    expect(results).toEqual(Object.fromEntries(wanted));
  });
});
