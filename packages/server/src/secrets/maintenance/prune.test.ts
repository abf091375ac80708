import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../../test/support/test-vault.ts';
import { rollBackSecrets } from '../rollback.ts';
import { getSecretHistory } from '../show.ts';
import { logPendingSecretDeliveries } from '../watch.ts';
import { keptRevisionCount, planPruning, pruneRevisions } from './prune.ts';

describe('planPruning', () => {
  it.each([
    ['all three revisions if the limit is ten', [1, 2, 3], [], 10, [1, 2, 3]],
    ['the newest revisions', [1, 2, 3, 4], [], 2, [3, 4]],
    ['revisions that a deployment runs with', [1, 2, 5, 7, 9], [2], 2, [2, 7, 9]],
    ['only stored revisions if a deployment names a missing one', [4, 5], [1], 1, [5]],
  ])('selects the revisions to keep: %s', (_, revisions, pins, kept, expected) => {
    expect(planPruning(revisions, pins, kept)).toEqual(expected);
  });
});

describe('a secret set with 15 revisions', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;
  let pins: number[];

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    home = await rows.organization('home');
    pins = [3];
    await vault.put(home, 'keys', createPutSecretsRequest({ OLD: 'stays', A: '1' }));
    for (let count = 2; count <= 15; count += 1)
      await vault.put(home, 'keys', createPutSecretsRequest({ A: String(count) }));
  });
  afterEach(() => rows.close());

  const context = () => ({
    ...vault.context,
    rootKeys: vault.rootKeys,
    pinsOf: async () => pins,
  });
  const setId = async () => {
    const { rows: found } = await sql<{ id: string }>`select id from secret_sets`.execute(rows.db);
    return found[0]?.id ?? '';
  };
  const values = async (revision: number) =>
    vault.variables(home, { secretSet: 'keys', setId: await setId(), revision });
  const count = async () => {
    const { rows: found } = await sql<{ count: number }>`select count(*)::int as count from secret_values`.execute(
      rows.db,
    );
    return found[0]?.count;
  };

  it('keeps, after pruneRevisions, its newest ten revisions and every revision that a deployment uses', async () => {
    expect(await pruneRevisions(context())).toBe(4);
    expect(await pruneRevisions(context())).toBe(0);
    const { revisions } = await getSecretHistory(vault.context, { organizationId: home }, 'keys', { limit: 50 });
    expect(revisions.map(({ revision }) => revision)).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 3]);
    expect(await values(3)).toEqual({ OLD: 'stays', A: '3' });
    expect(await values(15)).toEqual({ OLD: 'stays', A: '15' });
    await expect(values(4)).rejects.toThrow();
    expect(await count()).toBe(keptRevisionCount + 2);
    const { rows: log } = await sql`select action, object, revision_before, revision_after from audit_events
      order by sequence desc limit 1`.execute(rows.db);
    expect(log).toEqual([{ action: 'secrets.prune', object: 'keys', revision_before: 1, revision_after: 5 }]);
  });

  it('verifies without findings, and can be written and rolled back, after pruneRevisions', async () => {
    await pruneRevisions(context());
    expect(await vault.verify()).toEqual([]);
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'more' }));
    const rolled = await rollBackSecrets(vault.context, vault.scopeOf(home), 'keys', { revision: 3 });
    expect(rolled).toMatchObject({ revision: 17 });
    await vault.deliver();
    expect(await values(17)).toEqual({ OLD: 'stays', A: '3' });
    expect(await vault.verify()).toEqual([]);
  });

  it('is not changed by pruneRevisions if it is damaged', async () => {
    await sql`update secret_revisions set entries = '[]' where revision = 15`.execute(rows.db);
    expect(await pruneRevisions(context())).toBe(0);
    expect(await count()).toBe(16);
  });

  it('is logged by logPendingSecretDeliveries after its delivery has been pending for a minute', async () => {
    const lines: unknown[] = [];
    const logger = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
    expect(await logPendingSecretDeliveries({ ...vault.context, logger })).toBe(0);
    const later = () => new Date(vault.context.now().getTime() + 61_000);
    expect(await logPendingSecretDeliveries({ ...vault.context, now: later, logger })).toBe(1);
    expect(lines).toMatchObject([{ organization: 'home', set: 'keys', revision: 15, region: 'us-west' }]);
    await vault.deliver();
    expect(await logPendingSecretDeliveries({ ...vault.context, now: later, logger })).toBe(0);
  });
});
