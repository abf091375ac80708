import { secretWriteQueueLimits, secretWriteRateLimit } from '@bothost/contract';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createClientConfig } from '../../src/store/address.ts';
import { sendRawRequest as askService, type RawResponse } from '../support/ask.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

const service = await useTestServer({ bots: { limited: {} } });
const neighbours = await useSecondOrganization(service);

const ask = (method: string, path: string, body?: unknown, more?: object) =>
  askService(service, method, path, body, more);
const put = (values: Record<string, string>, more?: object) => {
  const secrets = Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue }));
  return ask('PUT', '/secrets/limited', { secrets }, more);
};

/** Blocks all writes, sends `count` requests, waits for the expected number of refusals, and then unblocks the writes. */
async function whileHeld(
  count: number,
  refusals: number,
  send: () => Promise<RawResponse>,
): Promise<readonly RawResponse[]> {
  const holder = new pg.Client(createClientConfig(service.database.address));
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table secret_sets in exclusive mode');
    let refused = 0;
    const answers = Array.from({ length: count }, async () => {
      const answer = await send();
      if (answer.status === 429) refused += 1;
      return answer;
    });
    await expect.poll(() => refused).toBe(refusals);
    await holder.query('rollback');
    return await Promise.all(answers);
  } finally {
    await holder.end();
  }
}
const statusesOf = (answers: readonly RawResponse[]) => answers.map(({ status }) => status).sort();

describe('limits for writes of secrets', () => {
  it('refuse requests above the maximum number of waiting writes, and complete the waiting writes', async () => {
    const limit = secretWriteQueueLimits.requests;
    const answers = await whileHeld(limit + 20, 20, () => ask('DELETE', '/secrets/not-there/KEY'));
    expect(statusesOf(answers)).toEqual([...Array(limit).fill(404), ...Array(20).fill(429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json).toMatchObject({ reason: 'too-many-secret-writes', code: '429' });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await put({ A: 'one' })).status).toBe(202);
  });

  it('refuse a request that would raise the total size of all waiting writes above the limit', async () => {
    const large = Object.fromEntries(Array.from({ length: 16 }, (_, key) => [`KEY_${key}`, 'x'.repeat(65_536)]));
    const fit = Math.floor(secretWriteQueueLimits.bytes / (16 * (65_536 + 'KEY_00'.length)));
    const answers = await whileHeld(fit + 6, 6, () => put(large));
    expect(statusesOf(answers)).toEqual([...Array(fit).fill(400), ...Array(6).fill(429)]);
    expect((await put({ A: 'two' })).status).toBe(202);
  });

  it('limit the request rate of each organization separately', async () => {
    const counts = { allowed: 0, refused: 0 };
    const one = async (): Promise<void> => {
      if (counts.refused > 0) return;
      const { status, json } = await ask('DELETE', '/secrets/not-there');
      if (status === 429) expect(json['reason']).toBe('too-many-secret-writes');
      if (status === 429) counts.refused += 1;
      else counts.allowed += 1;
      return one();
    };
    await Promise.all(Array.from({ length: 8 }, one));
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.allowed).toBeLessThan(secretWriteRateLimit.burst * 2);
    // The token bucket refills continuously, but 40 concurrent requests use tokens faster.
    for (const send of [
      () => put({ A: 'three' }),
      () => ask('DELETE', '/secrets/limited/A'),
      () => ask('DELETE', '/secrets/limited'),
      () => ask('POST', '/secrets/limited/rollback', { revision: 1 }),
    ]) {
      const answers = await Promise.all(Array.from({ length: 40 }, send));
      expect(answers.map(({ json }) => json['reason'])).toContain('too-many-secret-writes');
    }
    expect((await put({ A: 'four', B: 'five' }, { key: neighbours.privateKey })).status).toBe(202);
  }, 120_000);
});
