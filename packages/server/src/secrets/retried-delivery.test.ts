import { operations, type WrittenSecrets } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestRows, testRows } from '../../test/support/test-rows.ts';
import { pairs, reasonOf, testVault } from '../../test/support/test-vault.ts';
import { getSecretSet } from './show.ts';

let rows: TestRows;
let vault: Awaited<ReturnType<typeof testVault>>;
let home: string;
beforeEach(async () => {
  rows = await testRows();
  vault = await testVault(rows);
  home = await rows.organization('home');
});
afterEach(() => rows.close());

const put = (more = {}) => vault.put(home, 'keys', { ...pairs({ A: '1' }), ...more });
const show = () => getSecretSet(vault.context, { organizationId: home }, 'keys', async () => []);
/** The HTTP status of the response. */
const statusOf = (written: WrittenSecrets) => {
  const { status, other } = operations.putSecrets;
  return other?.when(written) === true ? other.status : status;
};
const damage = (bytes: number) => rows.db.updateTable('secret_values').set({ bytes }).execute();

test('writing the same values retries a failed delivery once they decrypt', async () => {
  await put();
  await damage(2);
  await vault.deliver();
  expect(await reasonOf(show())).toBe('secret-set-damaged');
  expect(await reasonOf(put())).toBe('secret-set-damaged');

  // Like a restored backup.
  await damage(1);
  const unchanged = { change: 'none', revision: 1 };
  expect(await put({ dryRun: true })).toMatchObject({ ...unchanged, readiness: 'failed' });
  await vault.deliver();
  expect(await show()).toMatchObject({ status: 'failed' });
  const retried = await put();
  expect(retried).toMatchObject({ ...unchanged, readiness: 'pending' });
  expect(statusOf(retried)).toBe(202);
  await vault.deliver();
  expect(await show()).toMatchObject({ status: 'ready', revision: 1 });
  const delivered = await put({ dryRun: true });
  expect(delivered).toMatchObject({ ...unchanged, readiness: 'ready' });
  expect(statusOf(delivered)).toBe(200);
});
