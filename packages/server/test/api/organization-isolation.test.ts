import {
  type AllOperations,
  allOperations,
  createApiClient,
  listOperationPaths,
  type Operation,
} from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { type RawResponse, sendRawRequest } from '../support/ask.ts';
import { evaluateJavaScriptInBot, startAgentSession, waitUntilAgentReady } from '../support/client.ts';
import { uploadAndBuildProject } from '../support/deploys.ts';
import { signUpPerson } from '../support/people.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

/** Path parameters that name an object of an organization. */
const objectParams = [
  'agentName',
  'sessionId',
  'deploymentId',
  'keyId',
  'buildId',
  'userId',
  'invitationId',
  'uploadId',
  'alertId',
  'webhookId',
  'eventId',
  'setName',
  'secretKey',
] as const;
/** Path parameters of other kinds: the organization, providers, phone carriers, and objects of operations that this service does not support. */
const otherParams = ['organization', 'profile', 'region', 'owner', 'repository', 'provider', 'carrier'];
type Ids = Record<(typeof objectParams)[number], string>;

/** Valid request bodies, so that the missing object is the only reason for an error. */
const bodies: { readonly [Name in keyof AllOperations]?: object } = {
  updateMember: { role: 'viewer' },
  updateService: {},
  createAlert: { kind: 'failed_deployment' },
  putSecrets: { remove: ['THEIR_KEY'] },
  rollBackSecrets: { revision: 1 },
};

/** Queries that operations need, like `bodies`. */
const queries: { readonly [Name in keyof AllOperations]?: string } = { getDeploymentFile: '?path=main.js' };

type FurtherRequest = {
  readonly method: string;
  readonly path: string;
  readonly reason?: string;
  readonly isPublic?: true;
  readonly body?: (ids: Ids) => object;
};
/** Requests that name an object of another organization in their body or in a path outside the contract. */
const furtherRequests: readonly FurtherRequest[] = [
  {
    method: 'POST',
    path: '/builds',
    reason: 'upload-not-found',
    body: ({ uploadId }) => ({ uploadId, region: 'us-west' }),
  },
  {
    method: 'POST',
    path: '/agents',
    reason: 'build-not-usable',
    body: ({ buildId }) => ({ serviceName: 'thief', buildId }),
  },
  { method: 'POST', path: '/agents/ours', reason: 'build-not-usable', body: ({ buildId }) => ({ buildId }) },
  {
    method: 'POST',
    path: '/agents/ours',
    reason: 'secret-set-not-found',
    body: ({ setName }) => ({ secretSet: setName }),
  },
  { method: 'POST', path: '/agents/ours/rollback', body: ({ deploymentId }) => ({ deploymentId }) },
  { method: 'GET', path: '/agents/ours/deployments/{deploymentId}' },
  { method: 'GET', path: '/agents/ours/deployments/{deploymentId}/files' },
  { method: 'GET', path: '/agents/ours/deployments/{deploymentId}/file?path=main.js' },
  { method: 'GET', path: '/agents/ours/sessions/{sessionId}' },
  { method: 'DELETE', path: '/agents/ours/sessions/{sessionId}' },
  { method: 'GET', path: '/public/ours/sessions/{sessionId}/echo', isPublic: true },
  { method: 'GET', path: '/public/{agentName}/sessions/{sessionId}/echo', isPublic: true },
  { method: 'POST', path: '/public/{agentName}/sessions/{sessionId}/evaluate', isPublic: true },
];

const scoped = Object.values(allOperations).filter(({ key }) =>
  ['private', 'organization', 'member', 'public'].includes(key),
) as Operation[];
const paramsOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
const namesObject = (path: string) => paramsOf(path).some((name) => (objectParams as readonly string[]).includes(name));
const rows = scoped.flatMap((operation) =>
  listOperationPaths(operation).map((path) => ({ operation, method: operation.method, path: path.replace('/v1', '') })),
);

/** Without the audit log, which contains the names in the caller's own requests. */
const lists = rows.filter(({ method, path }) => method === 'GET' && !namesObject(path) && !path.includes('/audit'));

const missing = Object.fromEntries(objectParams.map((name) => [name, crypto.randomUUID()])) as Ids;
const malformed = Object.fromEntries(objectParams.map((name) => [name, `malformed-${name}`.toLowerCase()])) as Ids;

const service = await useTestServer({ bots: { ours: {} } });
const neighbours = await useSecondOrganization(service, { theirs: {} });
const client = createApiClient({ origin: service.url, key: neighbours.privateKey });
const publicClient = createApiClient({ origin: service.url, key: neighbours.publicKey });
const address = { url: service.url, publicKey: neighbours.publicKey, client, publicClient };
const readAgent = () => client.getAgent({ params: { agentName: 'theirs' } });
await waitUntilAgentReady({ client }, 'theirs');
const sessionId = await startAgentSession(address, 'theirs');
await evaluateJavaScriptInBot(address, 'theirs', sessionId, 'true');
const build = await uploadAndBuildProject({ client }, { 'package.json': '{}', 'index.js': '' });
const sha256 = 'a'.repeat(64);
const upload = await client.getBuildUploadUrl({ body: { region: 'us-west', contentHash: sha256, sizeBytes: 1 } });
const person = await signUpPerson(service, 'neighbour', 'owner', neighbours.name);
const members = person.within(neighbours.name);
const invitation = await members.createInvitation({ body: { email: 'guest@example.com', role: 'viewer' } });
const alert = await client.createAlert({ params: { agentName: 'theirs' }, body: { kind: 'failed_deployment' } });
const webhook = await client.createWebhook({ body: { url: 'https://webhook.invalid/', events: ['session.ended'] } });
const delivery = await client.testWebhook({ params: { webhookId: webhook.id } });
await client.putSecrets({
  params: { setName: 'their-keys' },
  body: { secrets: [{ secretKey: 'THEIR_KEY', secretValue: 'value' }] },
});
const theirs: Ids = {
  agentName: 'theirs',
  sessionId,
  deploymentId: (await readAgent()).desiredDeploymentId ?? '',
  keyId: (await client.listKeys()).keys[0]?.id ?? '',
  buildId: build.id,
  userId: person.user.id,
  invitationId: invitation.id,
  uploadId: upload.uploadId,
  alertId: alert.id,
  webhookId: webhook.id,
  eventId: delivery.eventId,
  setName: 'their-keys',
  secretKey: 'THEIR_KEY',
};
const readTheirObjects = async () => ({
  agent: (await readAgent()).desiredDeploymentId,
  session: (await client.getSession({ params: { agentName: 'theirs', sessionId } })).endedAt,
  starts: await evaluateJavaScriptInBot(address, 'theirs', sessionId, 'state.starts.length'),
  keys: (await client.listKeys()).keys.map(({ revokedAt }) => revokedAt),
  build: (await client.getBuild({ params: { buildId: build.id } })).build.status,
  members: (await members.listMembers()).members.map(({ role }) => role),
  invitations: (await members.listInvitations()).invitations.length,
  alerts: (await client.listAlerts()).alerts.length,
  webhooks: (await client.listWebhooks()).webhooks.map(({ enabled }) => enabled),
  secretRevisions: (await client.listSecrets({})).sets.map(({ revision }) => revision),
});
const owner = await signUpPerson(service, 'owner');
const personalToken = (await owner.client.createPersonalToken({ body: { name: 'caller' } })).token;

/** Sends a request with the ids, and returns the response without the ids, the length and values that are unique in each response. */
async function send(method: string, path: string, ids: Ids, key: string, body?: object): Promise<RawResponse> {
  const filled = path.replace('{organization}', 'test-org').replace(/\{(\w+)\}/g, (_, name) => ids[name as keyof Ids]);
  const response = await sendRawRequest(service, method, filled, body, { key });
  const { date: _, 'content-length': __, 'x-request-id': requestId, ...headers } = response.headers;
  let text = response.text.replace(String(requestId), 'REQUEST');
  for (const [name, id] of Object.entries(ids)) text = text.replaceAll(id, name);
  return { ...response, headers, text, json: {} };
}

const keyFor = ({ key }: Operation) =>
  key === 'public' ? service.publicKey : key === 'member' ? personalToken : service.privateKey;

describe('a caller of another organization', () => {
  it('has a row for each path parameter of the contract', () => {
    const unknown = rows.flatMap(({ path }) => paramsOf(path)).filter((name) => !otherParams.includes(name));
    expect([...new Set(unknown)].filter((name) => !(objectParams as readonly string[]).includes(name))).toEqual([]);
  });

  it.each(rows.filter(({ path }) => namesObject(path)))(
    'gets the same refusal for an existing and a missing object: $method $path',
    async ({ operation, method, path }) => {
      const before = await readTheirObjects();
      const name = operation.name as keyof AllOperations;
      const body = operation.bodyBytes > 0 ? (bodies[name] ?? {}) : undefined;
      const target = path + (queries[name] ?? '');
      const responses = await Promise.all(
        [theirs, missing, malformed].map((ids) => send(method, target, ids, keyFor(operation), body)),
      );
      for (const response of responses) expect(response).toEqual(responses[0]);
      // Operations of Pipecat Cloud that this service refuses for every object have other statuses.
      expect(responses[0]?.status).toBeOneOf(operation.tag === 'pipecat-cloud' ? [400, 404, 409] : [404]);
      expect(responses[0]?.text).not.toContain('endpoint-not-found');
      expect(await readTheirObjects()).toEqual(before);
    },
  );

  it.each(furtherRequests)(
    'gets the same refusal for an existing and a missing object: $method $path',
    async ({ method, path, reason = 'not-found', isPublic, body }) => {
      const before = await readTheirObjects();
      const key = isPublic ? service.publicKey : service.privateKey;
      const [existing, none] = [theirs, missing].map((ids) => send(method, path, ids, key, body?.(ids)));
      expect(await existing).toEqual(await none);
      expect((await existing)?.text).toContain(reason);
      expect(await readTheirObjects()).toEqual(before);
    },
  );

  it.each(lists)('gets no object of the organization from $method $path', async ({ operation, path }) => {
    const { text } = await sendRawRequest(service, 'GET', path.replace('{organization}', 'test-org'), undefined, {
      key: keyFor(operation),
    });
    for (const id of Object.values(theirs)) expect(text).not.toContain(id);
  });

  it('gets the same refusal for an existing and a missing organization', async () => {
    for (const { operation, method, path } of rows.filter(({ path }) => path.includes('{organization}'))) {
      const [existing, none] = [neighbours.name, 'never-was'].map((name) =>
        send(method, path.replace('{organization}', name), missing, keyFor(operation)),
      );
      expect({ path, ...(await existing) }).toEqual({ path, ...(await none) });
      expect(await existing).toMatchObject({ status: 404, text: expect.stringContaining('organization-not-found') });
    }
  });
});
