import { afterEach, beforeEach, expect, test } from 'vitest';
import { type TestRows, testRows } from '../../test/support/test-rows.ts';
import { pairs, testVault } from '../../test/support/test-vault.ts';
import { verifyAudit } from '../audit/verify.ts';
import { rollBackSecrets } from './rollback.ts';
import { secretHistory } from './show.ts';

let rows: TestRows;
beforeEach(async () => {
  rows = await testRows();
});
afterEach(() => rows.close());

test('concurrent rollbacks and writes of a set run one after the other', async () => {
  const vault = await testVault(rows);
  const home = await rows.organization('home');
  await vault.put(home, 'keys', pairs({ A: '1' }));
  await vault.put(home, 'keys', pairs({ A: '2' }));
  const work = Array.from({ length: 10 }, (_, number) => [
    rollBackSecrets(vault.context, vault.scopeOf(home), 'keys', { revision: 1 + (number % 2) }),
    vault.put(home, 'keys', pairs({ A: `a${number}` })),
  ]).flat();
  const ended = await Promise.allSettled(work);
  expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
  const { revisions } = await secretHistory(vault.context, { organizationId: home }, 'keys', { limit: 100 });
  expect(revisions.map(({ revision }) => revision)).toEqual(revisions.map((_, index) => revisions.length - index));
  expect(await verifyAudit({ db: rows.db }, { organizationId: home })).toMatchObject({ ok: true });
});
