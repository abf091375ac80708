import { type Operation, operations } from '@bothost/contract';
import { describe, expect, it, vi } from 'vitest';
import { type RawResponse, sendRawRequest } from '../support/ask.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

/** Names of the other organization's objects, and names of the same length that belong to no object. */
const theirs = { set: 'their-keys', pull: 'their-pull', key: 'THEIR_KEY', revision: 3 };
const nobodys = { set: 'nones-keys', pull: 'nones-pull', key: 'NONES_KEY', revision: 3 };
type Names = { readonly [Name in keyof typeof theirs]: (typeof theirs)[Name] };
type TestCall = { readonly path: string; readonly query?: string; readonly body?: unknown };

const pair = (key: string) => ({ secretKey: key, secretValue: 'value' });
const keysOf = ({ key }: Names) => [key, 'ZED'];

/**
 * Maps each operation on secrets and the audit log to the requests that an organization can send about an object with a given
 * name. Each path is appended to a base path, for example `/organizations/test-org`.
 */
const tries: Readonly<Record<string, (names: Names) => readonly TestCall[]>> = {
  listSecrets: () => [{ path: '/secrets' }, { path: '/secrets', query: 'region=us-west&type=imagePullSecret' }],
  getSecretSet: ({ set, pull }) => [set, pull, set.toUpperCase()].map((name) => ({ path: `/secrets/${name}` })),
  putSecrets: (names) =>
    [
      ...[
        {},
        { dryRun: true },
        { expectedRevision: 0 },
        { mode: 'replace' },
        { region: 'us-west' },
        { region: 'nowhere' },
      ]
        .flatMap((more) => [
          { secrets: keysOf(names).map(pair), ...more },
          { ...pair(names.key), ...more },
          { isImagePullSecret: true, host: 'ghcr.io', secretValue: btoa('me:value'), ...more },
        ])
        .flatMap((body) => [names.set, names.pull, names.set.toUpperCase()].map((name) => ({ name, body }))),
      ...[{}, { dryRun: true }, { expectedRevision: names.revision }, { expectedRevision: 0 }].flatMap((more) => [
        { name: names.set, body: { remove: [names.key], ...more } },
        { name: names.set, body: { secrets: [pair('NEW')], remove: [names.key], ...more } },
        { name: names.set, body: { secrets: [pair(names.key)], expectedRevision: names.revision, dryRun: true } },
        { name: names.set, body: { secrets: [{ ...pair('PORT') }], ...more } },
      ]),
    ].map(({ name, body }) => ({ path: `/secrets/${name}`, body })),
  deleteSecret: (names) => keysOf(names).map((key) => ({ path: `/secrets/${names.set}/${key}` })),
  deleteSecretSet: ({ set, pull }) =>
    [set, pull].flatMap((name) =>
      ['', 'force=true', 'force=maybe'].map((query) => ({ path: `/secrets/${name}`, query })),
    ),
  getSecretHistory: ({ set, pull }) =>
    [set, pull].flatMap((name) =>
      ['', 'limit=1', 'before=3', 'limit=0'].map((query) => ({ path: `/secrets/${name}/history`, query })),
    ),
  rollBackSecrets: ({ set, pull, revision }) =>
    [set, pull].flatMap((name) =>
      [{}, { dryRun: true }, { expectedRevision: revision }, { expectedRevision: 0 }].flatMap((more) =>
        [1, revision, 99, 0].map((to) => ({ path: `/secrets/${name}/rollback`, body: { revision: to, ...more } })),
      ),
    ),
  verifyImagePullSecret: ({ set, pull }) =>
    [set, pull].flatMap((name) =>
      [{}, { image: 'team/app:1' }].map((body) => ({ path: `/secrets/${name}/verify`, body })),
    ),
  listAuditEntries: ({ set, pull }) =>
    [set, pull].map((name) => ({ path: '/audit', query: `object=${name}&until=BEGIN` })),
  verifyAudit: () => [{ path: '/audit/verification' }],
};

const deploys = ({ set, pull }: Names): readonly (TestCall & { readonly method: string })[] => [
  { method: 'POST', path: '/agents/ours', body: { secretSet: set } },
  { method: 'POST', path: '/agents/ours', body: { secretSet: set.toUpperCase() } },
  { method: 'POST', path: '/agents/ours', body: { secretSet: pull } },
  { method: 'POST', path: '/agents/ours', body: { imagePullSecretSet: pull } },
  { method: 'POST', path: '/agents', body: { serviceName: 'fresh', secretSet: set, buildId: 'x' } },
];

const service = await useTestServer({ bots: { ours: {} } });
const neighbours = await useSecondOrganization(service, { theirs: {} });

const asNeighbour = (method: string, path: string, body?: unknown) =>
  sendRawRequest(service, method, path, body, { key: neighbours.privateKey });
const theirView = async () => {
  const paths = ['/secrets', '/secrets/their-keys', '/secrets/their-keys/history', '/secrets/their-pull/history'];
  const answers = await Promise.all([...paths, '/audit?limit=1000'].map((path) => asNeighbour('GET', path)));
  return answers.map(({ text }) => text);
};

for (const value of ['1', '2', '3']) {
  const secrets = [{ secretKey: theirs.key, secretValue: value }, pair('ZED')];
  await asNeighbour('PUT', '/secrets/their-keys', { secrets });
}
const pull = { isImagePullSecret: true, host: 'ghcr.io', secretValue: btoa('me:value') };
await asNeighbour('PUT', '/secrets/their-pull', pull);
const sets = async () => (await asNeighbour('GET', '/secrets')).json['sets'] as { readonly status: string }[];
await vi.waitUntil(async () => (await sets()).every(({ status }) => status === 'ready'), { timeout: 40_000 });
const agent = () => asNeighbour('POST', '/agents/theirs', { secretSet: 'their-keys' });
await vi.waitUntil(async () => (await agent()).status < 300, { timeout: 40_000 });
/** The time after all objects were created and before the first request of a test. */
const began = new Date().toISOString();
const idOf = async (key: string) => {
  const { json } = await sendRawRequest(service, 'GET', '/organizations', undefined, { key });
  return (json['organizations'] as { id: string }[])[0]?.id ?? '';
};
const places = {
  own: ['', `/organizations/${service.organization}`, `/organizations/${await idOf(service.privateKey)}`],
  other: [`/organizations/${neighbours.name}`, `/organizations/${await idOf(neighbours.privateKey)}`],
  none: ['/organizations/nobodysorg', `/organizations/${crypto.randomUUID()}`],
};

const about = Object.values(operations as Record<string, Operation>).filter(({ tag }) =>
  ['secrets', 'audit'].includes(tag),
);

/**
 * Sends a request and returns the response. Then deletes the secret sets that the request created. In the response, replaces
 * the names of secret sets and of their keys, and values that are unique in each response, by placeholders.
 */
async function answerTo(method: string, place: string, names: Names, one: TestCall, key?: string): Promise<string> {
  const path = `${place}${one.path}${one.query === undefined ? '' : `?${one.query.replace('BEGIN', began)}`}`;
  const answer = await sendRawRequest(service, method, path, one.body, key === undefined ? {} : { key });
  const made = answer.status === 202 ? [names.set, names.pull] : [];
  for (const name of made) await sendRawRequest(service, 'DELETE', `/secrets/${name}?force=true`);
  return masked(answer, names);
}

describe('requests about another organization', () => {
  it('are tested for every operation on secrets and the audit log', () => {
    expect(neighbours.name).toHaveLength('nobodysorg'.length);
    expect(Object.keys(tries).sort()).toEqual(about.map(({ name }) => name).sort());
  });

  it.each(about.map(({ name, method }) => [name, method] as const))(
    'get the same response for existing and missing names: %s',
    async (name, method) => {
      const before = await theirView();
      const [their, none] = [tries[name]?.(theirs) ?? [], tries[name]?.(nobodys) ?? []];
      expect(their.length).toBeGreaterThan(0);
      for (const [index, one] of their.entries()) {
        const other = none[index];
        if (other === undefined) throw new Error('no counterpart');
        // Dry runs have their own rate limit. To stay below the limit, send dry runs to only two of the caller's three URL
        // prefixes: the empty prefix and the prefix with the organization's name, not the prefix with its id.
        const isDry = JSON.stringify(one.body)?.includes('dryRun') === true;
        for (const place of isDry ? places.own.slice(0, 2) : places.own) {
          const answer = await answerTo(method, place, theirs, one);
          expect(answer, `${place}${one.path} ${JSON.stringify(one.body)}`).toBe(
            await answerTo(method, place, nobodys, other),
          );
          expect(answer).not.toMatch(/their/i);
        }
        for (const key of [service.privateKey, service.publicKey]) {
          const answers = new Set<string>();
          for (const place of [...places.other, ...places.none]) {
            answers.add(await answerTo(method, place, theirs, one, key));
            answers.add(await answerTo(method, place, nobodys, other, key));
          }
          expect([...answers]).toHaveLength(1);
          expect([...answers][0]).toContain(key === service.publicKey ? 'key-invalid' : 'organization-not-found');
        }
      }
      expect(await theirView()).toEqual(before);
    },
    180_000,
  );

  it('get the same refusal whether the secret set of a deploy belongs to that organization or does not exist', async () => {
    const before = await theirView();
    const [their, none] = [deploys(theirs), deploys(nobodys)];
    for (const [index, one] of their.entries()) {
      const other = none[index];
      if (other === undefined) throw new Error('no counterpart');
      for (const place of [...places.own, ...places.other, ...places.none]) {
        const answer = await answerTo(one.method, place, theirs, one);
        expect(JSON.parse(answer).status).toBeGreaterThanOrEqual(400);
        expect(answer).toBe(await answerTo(other.method, place, nobodys, other));
      }
    }
    expect(await theirView()).toEqual(before);
  });
});

/** Returns status, headers and body of a response as JSON, with placeholders for values that are unique in each response. */
function masked({ status, headers, text }: RawResponse, { set, pull, key }: Names): string {
  const { date: _, 'x-request-id': requestId, ...stable } = headers;
  const body = text
    .replaceAll(String(requestId), 'REQUEST')
    .replace(new RegExp(set, 'gi'), 'SET')
    .replace(new RegExp(pull, 'gi'), 'PULL')
    .replaceAll(key, 'KEY')
    // Mask the number of entries, the last sequence number and the last hash of the caller's own audit log. They change with
    // each refused request, because the log records it.
    .replace(/"(entries|lastSequence)":\d+|"lastHash":"[0-9a-f]+"/g, 'OWN')
    // Mask fingerprints, because they depend on the id of the set and on the fingerprint key of the organization.
    .replace(/"fingerprint":"[0-9a-f]+"/g, '"fingerprint":"F"');
  return JSON.stringify({ status, headers: stable, body });
}
