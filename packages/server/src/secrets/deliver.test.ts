import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../test/support/test-rows.ts';
import { pairs, testVault } from '../../test/support/test-vault.ts';
import { deliverSecrets } from './deliver.ts';
import { pinSecretSet } from './pin.ts';
import { getSecretSet } from './show.ts';
import { createKeyring } from './vault/keyring.ts';
import { localRootKeys } from './vault/root-key.ts';

describe('a secret set', () => {
  let rows: TestRows;
  let vault: Awaited<ReturnType<typeof testVault>>;
  let home: string;
  let moment: number;

  beforeEach(async () => {
    rows = await testRows();
    vault = await testVault(rows);
    home = await rows.organization('home');
    moment = vault.context.now().getTime();
    await put();
  });
  afterEach(() => rows.close());

  const put = () => vault.put(home, 'keys', pairs({ A: '1' }));
  const show = () => getSecretSet(vault.context, { organizationId: home }, 'keys', async () => []);
  const now = () => new Date(moment);
  const away = () => ({ ...vault.context, now, keyring: createKeyring({ rootKeys: localRootKeys([]), now }) });
  const broken = () => ({
    ...away(),
    keyring: { ...vault.context.keyring, version: () => Promise.reject(new Error('it is broken')) },
  });
  /** As often as it stays pending; a minute later it is due again. */
  async function deliverInVain(context: typeof away) {
    for (let tries = 1; ; tries += 1) {
      expect(await deliverSecrets(context())).toBe(1);
      moment += 60_000;
      const { status, errorMessage } = await show();
      if (status !== 'pending' || tries === 20) return { status, errorMessage };
    }
  }

  it('fails with the reason when its root key stays away, and is ready by itself when that is back', async () => {
    const reason = expect.stringContaining('Ask the operator to put it back');
    expect(await deliverInVain(away)).toEqual({ status: 'failed', errorMessage: reason });
    const pin = rows.db.transaction().execute((db) => {
      return pinSecretSet(db, { organizationId: home, region: 'us-west' }, 'keys');
    });
    await expect(pin).rejects.toMatchObject({ reason: 'secret-set-not-ready', message: reason });
    expect(await deliverInVain(away)).toEqual({ status: 'failed', errorMessage: reason });
    expect(await deliverSecrets({ ...vault.context, now })).toBe(1);
    expect(await show()).toMatchObject({ status: 'ready', revision: 1 });
    expect(await show()).not.toHaveProperty('errorMessage');
    moment += 60_000;
    expect(await deliverSecrets({ ...vault.context, now })).toBe(0);
  });

  it('is ready at once when the same values are written after the root key came back', async () => {
    await deliverInVain(away);
    expect(await put()).toMatchObject({ change: 'none', readiness: 'pending' });
    await vault.deliver();
    expect(await show()).toMatchObject({ status: 'ready' });
  });

  it('fails also for what nobody knows, which is in the log alone, and is ready when that has passed', async () => {
    const { status, errorMessage } = await deliverInVain(broken);
    expect({ status, errorMessage }).toEqual({
      status: 'failed',
      errorMessage: expect.stringContaining('keeps trying'),
    });
    expect(errorMessage).not.toContain('it is broken');
    expect(await deliverSecrets({ ...vault.context, now })).toBe(1);
    expect(await show()).toMatchObject({ status: 'ready' });
  });

  it('fails at once when it is damaged, and is not tried again', async () => {
    await sql`update secret_values set bytes = 2`.execute(rows.db);
    expect(await vault.deliver()).toBe(1);
    moment += 3_600_000;
    expect(await deliverSecrets({ ...vault.context, now })).toBe(0);
    const { rows: ended } = await sql`select state, attempts from secret_deliveries`.execute(rows.db);
    expect(ended).toEqual([{ state: 'failed', attempts: 0 }]);
  });

  it('is delivered though a clock that ran ahead has put that off for longer than anything is', async () => {
    await sql`update secret_deliveries set next_at = next_at + interval '1 h'`.execute(rows.db);
    expect(await vault.deliver()).toBe(1);
    expect(await show()).toMatchObject({ status: 'ready' });
  });
});
