import { setTimeout as delay } from 'node:timers/promises';
import type { AuditEntry, SecretRevision, SecretSetDetails, SecretWriteResult } from '@bothost/contract';
import { describe, expect, inject, it } from 'vitest';
import { createKillTally } from '../../../runtime/test/kill-tally.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import type { ApiResponse } from '../support/service-process.ts';
import { useCrashService } from './crash-service.ts';

const kills = Math.ceil(inject('kills') * 1.5);
const seed = inject('killSeed');
const keys = Array.from({ length: 50 }, (_, index) => `KEY_${String(index).padStart(2, '0')}`);

/**
 * The expected state of a secret set. `generation` counts the writes to the set, including interrupted writes; `revision` is
 * the newest revision.
 */
type KnownSet = { readonly name: string; generation: number; revision: number };

const random = createSeededRandom(seed);
const service = await useCrashService();

describe(`${kills} kills of the server during writes of ${keys.length} secrets (seed ${seed})`, () => {
  async function read<T>(path: string): Promise<T> {
    const { status, body } = await service.request<T>('GET', `/v1/${path}`);
    expect(status).toBe(200);
    return body;
  }
  /** Each value contains its key and generation, so that no two writes have the same value. */
  const put = (name: string, generation: number) =>
    service.call('PUT', `/v1/secrets/${name}`, service.privateKey, {
      secrets: keys.map((secretKey) => ({ secretKey, secretValue: `${name} ${secretKey} ${generation}\n`.repeat(20) })),
    });
  const isReady = async (name: string) => (await read<SecretSetDetails>(`secrets/${name}`)).status === 'ready';

  it(
    'leave each write complete or without effect, and each secret set becomes ready after a retry',
    async () => {
      const sets: KnownSet[] = [];
      const killed = createKillTally('before the write', 'after the write', 'after the answer');

      // Measured milliseconds from the request that writes secrets: `write` until the response, `whole` until the secrets are
      // delivered to the region. The delay before each kill is a random fraction of one of these durations.
      const durations = { write: 50, whole: 100 };

      for (let kill = 0; kill < kills; kill++) {
        const set = choose(sets, kill);
        const generation = set.generation + 1;
        let answer: ApiResponse | null = null;
        const asked = put(set.name, generation).then((answered) => {
          answer = answered;
        });
        await delay(random.next() * (random.next() < 0.7 ? durations.write * 1.2 : durations.whole * 1.2));
        await Promise.all([service.restart(), asked]);

        const found = await service.request<SecretSetDetails>('GET', `/v1/secrets/${set.name}`);
        const details = found.status === 200 ? found.body : null;
        if (details === null) expect({ kill, ...found, set }).toMatchObject({ status: 404, set: { revision: 0 } });
        const revision = details?.revision ?? 0;
        const isWritten = revision > set.revision;
        if (answer !== null)
          expect({ kill, answer, isWritten }).toMatchObject({ answer: { status: 202 }, isWritten: true });
        killed.add(answer !== null ? 'after the answer' : isWritten ? 'after the write' : 'before the write');
        expect({ kill, revision, was: set.revision }).toEqual({
          kill,
          revision: set.revision + (isWritten ? 1 : 0),
          was: set.revision,
        });
        expect((details?.secrets ?? []).map(({ fieldName }) => fieldName)).toEqual(details === null ? [] : keys);
        expect(new Set(details?.secrets.map((secret) => secret.revision) ?? [])).toEqual(
          new Set(details === null ? [] : [revision]),
        );

        // Retries the interrupted write, which must have changed all keys or none.
        const begun = performance.now();
        const again = await put(set.name, generation);
        if (again === null) throw new Error('the service did not respond, although it was not killed');
        if (!isWritten) durations.write = (durations.write + performance.now() - begun) / 2;
        const changes = new Set((again.body as SecretWriteResult).changes.map(({ change }) => change));
        expect({ kill, status: again.status, changes }).toEqual({
          kill,
          status: isWritten ? 200 : 202,
          changes: new Set([isWritten ? 'unchanged' : set.revision === 0 ? 'new' : 'changed']),
        });
        set.revision += 1;
        set.generation = generation;
        await expect.poll(() => isReady(set.name), { timeout: 20_000, interval: 10 }).toBe(true);
        if (!isWritten) durations.whole = (durations.whole + performance.now() - begun) / 2;
      }

      for (const set of sets) {
        const { revisions } = await read<{ revisions: SecretRevision[] }>(`secrets/${set.name}/history?limit=100`);
        const newest = revisions.map(({ revision }) => revision);
        expect(newest).toEqual(newest.map((_, index) => set.revision - index));
        const query = `object=${set.name}&action=secrets.set&result=done&order=asc&limit=1000`;
        const log = (await read<{ entries: AuditEntry[] }>(`audit?${query}`)).entries;
        expect(log.map(({ revisionAfter }) => revisionAfter)).toEqual(
          Array.from({ length: set.revision }, (_, index) => index + 1),
        );
      }
      expect(await read('audit/verification')).toMatchObject({ ok: true, brokenAt: null });
      // Do not require kills between a write and its response, because this period is too short to be hit reliably.
      expect(killed.times('before the write')).toBeGreaterThan(0);
      expect(killed.times('after the answer')).toBeGreaterThan(0);
      killed.print(seed, `${sets.length} sets`);
      await service.stopInOrder();
    },
    120_000 + kills * 10_000,
  );

  function choose(sets: KnownSet[], kill: number): KnownSet {
    const known = random.next() < 0.67 ? sets[random.below(sets.length)] : undefined;
    if (known !== undefined) return known;
    const set = { name: `set-${kill}`, generation: 0, revision: 0 };
    sets.push(set);
    return set;
  }
});
