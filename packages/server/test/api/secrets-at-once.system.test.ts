import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { sendRawRequest as askService, type RawResponse } from '../support/ask.ts';
import { useTestServer } from '../support/use-test-server.ts';

const rounds = 25;
const seed = 20_261_120;

const service = await useTestServer();

const ask = (method: string, path: string, body?: unknown) => askService(service, method, path, body);
const put = (name: string, values: Record<string, string>) =>
  ask('PUT', `/secrets/${name}`, {
    secrets: Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
  });
const revisionsOf = async (name: string) =>
  (await service.client.getSecretHistory({ params: { setName: name }, query: { limit: 100 } })).revisions;
const keysOf = async (name: string) =>
  (await service.client.getSecretSet({ params: { setName: name } })).secrets.map(({ fieldName }) => fieldName);
const logOf = async (name: string) =>
  (await service.client.listAuditEntries({ query: { object: name, order: 'asc', limit: 1_000 } })).entries;

describe('concurrent writes of secrets', () => {
  it(`leave a consistent set after random operations, in ${rounds} rounds (seed ${seed})`, async () => {
    const random = createSeededRandom(seed);
    const anyKey = () => random.pick(['A', 'B', 'C']);
    const works: readonly [() => Promise<RawResponse>, ...(() => Promise<RawResponse>)[]] = [
      () => put('mixed', { [anyKey()]: String(random.below(3)) }),
      () => put('Mixed', { A: String(random.below(3)), B: String(random.below(3)) }),
      () => ask('PUT', '/secrets/mixed', { mode: 'replace', secrets: [{ secretKey: anyKey(), secretValue: 'only' }] }),
      () => ask('PUT', '/secrets/mixed', { remove: [anyKey()] }),
      () => ask('DELETE', `/secrets/mixed/${anyKey()}`),
      () => ask('POST', '/secrets/mixed/rollback', { revision: 1 + random.below(3) }),
      () => ask('PUT', '/secrets/mixed', { secretKey: 'A', secretValue: 'x', expectedRevision: random.below(4) }),
      () => ask('DELETE', '/secrets/mixed'),
      () => ask('GET', '/secrets/mixed'),
      () => ask('GET', '/secrets/mixed/history'),
      () => ask('GET', '/secrets'),
    ];
    for (let round = 0; round < rounds; round++) {
      const answers = await Promise.all(Array.from({ length: 24 }, () => random.pick(works)()));
      const odd = answers.filter(({ status }) => ![200, 202, 404, 409].includes(status));
      expect(odd.map(({ text }) => text)).toEqual([]);
      await put('mixed', { LAST: String(round) });
      const revisions = (await revisionsOf('mixed')).toReversed();
      expect(revisions.map(({ revision }) => revision)).toEqual(revisions.map((_, index) => index + 1));
      const keys = new Set<string>();
      for (const { added, changed, removed } of revisions) {
        expect([...changed, ...removed].every((key) => keys.has(key))).toBe(true);
        expect(added.some((key) => keys.has(key))).toBe(false);
        for (const key of added) keys.add(key);
        for (const key of removed) keys.delete(key);
      }
      expect(await keysOf('mixed')).toEqual([...keys].sort());
      const log = (await logOf('mixed')).filter(({ result }) => ['done', 'unchanged'].includes(result));
      let revision = 0;
      for (const { revisionBefore, revisionAfter } of log) {
        expect(revisionBefore).toBe(revision);
        revision = revisionAfter ?? 0;
      }
      expect(revisions.at(-1)?.revision).toBe(revision);
      if (round % 5 === 0) await ask('DELETE', '/secrets/mixed');
    }
    expect(await service.client.verifyAudit()).toMatchObject({ ok: true, brokenAt: null });
  }, 180_000);
});
