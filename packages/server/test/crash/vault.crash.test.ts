import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SecretWriteResult, VaultStatus, VaultTask } from '@bothost/contract';
import { describe, expect, inject, it } from 'vitest';
import { createKillTally } from '../../../runtime/test/kill-tally.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { useCrashService } from './crash-service.ts';

const kills = Math.max(5, Math.ceil(inject('kills') / 5));
const seed = inject('killSeed');
const sets = Array.from({ length: 20 }, (_, index) => `set-${index}`);
const keys = Array.from({ length: 20 }, (_, index) => `KEY_${index}`);
/**
 * Number of key rotations. Each adds a key version, so that re-encrypting all keys with a new root key takes several
 * transactions.
 */
const rotations = 40;
type Work = 'rekey' | 'rotate';
const works: readonly Work[] = ['rekey', 'rotate'];

const random = createSeededRandom(seed);
const service = await useCrashService();
const token = readFileSync(join(service.dataDirectory, 'operator-token'), 'utf8').trim();

describe(`${kills} kills of the server during rotations of vault keys (seed ${seed})`, () => {
  const ask = (method: string, path: string, body?: unknown) =>
    service.call(method, `/v1/operator/vault${path}`, token, body);
  const beginSession = (work: VaultTask['task']) => {
    if (work === 'verify') return ask('POST', '/verify');
    return ask('POST', '/rotate', { layer: work === 'rekey' ? 'root' : 'organization' });
  };
  async function status(): Promise<VaultStatus> {
    const answer = await ask('GET', '');
    expect(answer).toMatchObject({ status: 200 });
    return answer?.body as VaultStatus;
  }
  const running = async () => (await status()).tasks.filter(({ state }) => state === 'running').map(({ task }) => task);
  const done = () => expect.poll(running, { timeout: 30_000, interval: 5 }).toEqual([]);
  async function complete(work: VaultTask['task']): Promise<number> {
    const begun = performance.now();
    expect(await beginSession(work)).toMatchObject({ status: 202 });
    await done();
    return performance.now() - begun;
  }
  const textOf = (set: string, secretKey: string) => `${set} ${secretKey}\n`.repeat(5);
  /** Writes the same values again, which changes nothing if each stored value decrypts to the same text. */
  async function put(set: string): Promise<SecretWriteResult> {
    const secrets = keys.map((secretKey) => ({ secretKey, secretValue: textOf(set, secretKey) }));
    const answer = await service.call('PUT', `/v1/secrets/${set}`, service.privateKey, { secrets });
    expect(answer?.status === 200 || answer?.status === 202 ? 'written' : answer).toBe('written');
    return answer?.body as SecretWriteResult;
  }
  async function removeUnneededKeyFiles() {
    for (const { id, current, wraps } of (await status()).rootKeys) {
      if (!current && wraps === 0) rmSync(join(service.dataDirectory, 'vault-keys', id), { force: true });
    }
  }

  it(
    'never lose a value or prevent a rotation from completing',
    async () => {
      // Rotate the organization key several times while there is only one secret set, so that each rotation re-encrypts few
      // values.
      await put('first');
      for (let count = 0; count < rotations; count += 1) await complete('rotate');
      for (const set of sets) await put(set);
      const durations = { rotate: await complete('rotate'), rekey: await complete('rekey') };
      const killed = createKillTally('before', 'during', 'after');

      for (let kill = 0; kill < kills; kill += 1) {
        const work = works[kill % works.length] ?? 'rekey';
        await removeUnneededKeyFiles();
        const askedAt = Date.now();
        const asked = beginSession(work);
        await delay(random.next() * durations[work] * 1.1);
        await Promise.all([service.restart(), asked]);
        expect(service.current().exitedAt()).toBe(null);

        const found = await status();
        const task = found.tasks.find((one) => one.task === work);
        const { startedAt } = service.current();
        const isBegun = task !== undefined && Date.parse(task.startedAt) >= askedAt;
        const isEnded = isBegun && task.endedAt !== null && Date.parse(task.endedAt) < startedAt;
        killed.add(isEnded ? 'after' : isBegun ? 'during' : 'before');
        // The next server continues the rotation, and every value decrypts in the meantime.
        for (const set of sets) expect({ kill, work, ...(await put(set)) }).toMatchObject({ change: 'none' });
        await done();
        const { behind } = await status();
        expect({ kill, work, behind }).toEqual({ kill, work, behind: { keys: 0, sets: 0 } });
        await complete('verify');
        const findings = (await status()).tasks.flatMap((one) => one.findings);
        expect({ kill, work, findings }).toEqual({ kill, work, findings: [] });
      }
      await removeUnneededKeyFiles();
      expect(readdirSync(join(service.dataDirectory, 'vault-keys'))).toHaveLength(1);
      expect(killed.times('during')).toBeGreaterThan(0);
      killed.print(seed);
      await service.stopInOrder();
    },
    120_000 + kills * 25_000,
  );
});
