import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openTestConnections } from '../../test/support/test-database.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { limitAttempts, toClientNetwork } from './rate-limits.ts';

const rows = await useTestRows();

const tooMany = { reason: 'too-many-attempts', status: 429 };

it('limitAttempts counts the attempts on all servers together, including concurrent attempts', async () => {
  const other = await openTestConnections(rows.database);
  const attempts = Array.from({ length: 14 }, (_, index) =>
    limitAttempts(index % 2 === 0 ? rows.db : other, 'sign-in account', 'ada@example.com'),
  );
  const results = await Promise.allSettled(attempts);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  await limitAttempts(rows.db, 'sign-in account', 'grace@example.com');
  await other.destroy();
});

it('limitAttempts allows more attempts as time passes, up to the burst limit', async () => {
  const take = () => limitAttempts(rows.db, 'password person', 'person');
  const pass = (interval: string) =>
    sql`update rate_limits set updated_at = updated_at - ${interval}::interval`.execute(rows.db);
  for (let attempt = 0; attempt < 10; attempt += 1) await take();
  await expect(take()).rejects.toMatchObject(tooMany);
  await pass('61 seconds');
  await take();
  await expect(take()).rejects.toMatchObject(tooMany);
  await pass('1 day');
  for (let attempt = 0; attempt < 10; attempt += 1) await take();
  await expect(take()).rejects.toMatchObject(tooMany);
});

it('limitAttempts stores IP addresses and e-mail addresses only as hashes', async () => {
  await limitAttempts(rows.db, 'sign-in address', '192.0.2.7');
  const { rows: stored } = await sql<{
    text: string;
  }>`select json_agg(rate_limits)::text as text from rate_limits`.execute(rows.db);
  expect(stored[0]?.text).not.toMatch(/192\.0\.2\.7|ada@/);
});

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:0:1::1', '2001:db8:0:1'],
  ['::1', '0:0:0:0'],
  ['', ''],
])('toClientNetwork maps the address "%s" to the network "%s"', (address, network) => {
  expect(toClientNetwork(address)).toBe(network);
});
