import { operations, type SecretWriteResult } from '@bothost/contract';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault, getApiErrorReason } from '../../test/support/test-vault.ts';
import { deliverSecrets } from './deliver.ts';
import { pinSecretSetRevision } from './pin.ts';
import { getSecretSet } from './show.ts';
import { createKeyring } from './vault/keyring.ts';
import { createLocalRootKeys } from './vault/root-key.ts';

describe('deliverSecrets', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;
  let moment: number;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    home = await rows.organization('home');
    moment = vault.context.now().getTime();
    await put();
  });
  afterEach(() => rows.close());

  const put = (more = {}) => vault.put(home, 'keys', { ...createPutSecretsRequest({ A: '1' }), ...more });
  const show = () => getSecretSet(vault.context, { organizationId: home }, 'keys', async () => []);
  const now = () => new Date(moment);
  const rootKeyMissing = () => ({
    ...vault.context,
    now,
    keyring: createKeyring({ rootKeys: createLocalRootKeys([]), now }),
  });
  const broken = () => ({
    ...rootKeyMissing(),
    keyring: { ...vault.context.keyring, version: () => Promise.reject(new Error('it is broken')) },
  });
  /** Delivers until the set is no longer pending, at most 20 times. The clock advances by a minute each time. */
  async function deliverUntilFailed(context: typeof rootKeyMissing) {
    for (let tries = 1; ; tries += 1) {
      expect(await deliverSecrets(context())).toBe(1);
      moment += 60_000;
      const { status, errorMessage } = await show();
      if (status !== 'pending' || tries === 20) return { status, errorMessage };
    }
  }

  it('marks a set as failed while its root key is missing, and as ready once the key is restored', async () => {
    const reason = expect.stringContaining('Ask the operator to put it back');
    expect(await deliverUntilFailed(rootKeyMissing)).toEqual({ status: 'failed', errorMessage: reason });
    const pin = rows.db.transaction().execute((db) => {
      return pinSecretSetRevision(db, { organizationId: home, region: 'us-west' }, 'keys');
    });
    await expect(pin).rejects.toMatchObject({ reason: 'secret-set-not-ready', message: reason });
    expect(await deliverUntilFailed(rootKeyMissing)).toEqual({ status: 'failed', errorMessage: reason });
    expect(await deliverSecrets({ ...vault.context, now })).toBe(1);
    expect(await show()).toMatchObject({ status: 'ready', revision: 1 });
    expect(await show()).not.toHaveProperty('errorMessage');
    moment += 60_000;
    expect(await deliverSecrets({ ...vault.context, now })).toBe(0);
  });

  it('retries a failed delivery (missing root key) at once when a client writes the same values again', async () => {
    await deliverUntilFailed(rootKeyMissing);
    expect(await put()).toMatchObject({ change: 'none', readiness: 'pending' });
    await vault.deliver();
    expect(await show()).toMatchObject({ status: 'ready' });
  });

  it('keeps the text of an unexpected error out of errorMessage, and retries the delivery', async () => {
    const { status, errorMessage } = await deliverUntilFailed(broken);
    expect({ status, errorMessage }).toEqual({
      status: 'failed',
      errorMessage: expect.stringContaining('keeps trying'),
    });
    expect(errorMessage).not.toContain('it is broken');
    expect(await deliverSecrets({ ...vault.context, now })).toBe(1);
    expect(await show()).toMatchObject({ status: 'ready' });
  });

  it('after a repair of damaged database rows, delivers the secret set only when a client writes its values again', async () => {
    const setBytes = (bytes: number) => rows.db.updateTable('secret_values').set({ bytes }).execute();
    const { status: created, other } = operations.putSecrets;
    const statusOf = (written: SecretWriteResult) => (other?.when(written) === true ? other.status : created);
    await setBytes(2);
    await vault.deliver();
    expect(await getApiErrorReason(show())).toBe('secret-set-damaged');
    expect(await getApiErrorReason(put())).toBe('secret-set-damaged');
    await setBytes(1);
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

  it('marks the delivery of a damaged secret set as failed, and does not retry it', async () => {
    await sql`update secret_values set bytes = 2`.execute(rows.db);
    expect(await vault.deliver()).toBe(1);
    moment += 3_600_000;
    expect(await deliverSecrets({ ...vault.context, now })).toBe(0);
    const { rows: ended } = await sql`select state, attempts from secret_deliveries`.execute(rows.db);
    expect(ended).toEqual([{ state: 'failed', attempts: 0 }]);
  });

  it('delivers a revision at once if the stored time of its next attempt is too far in the future', async () => {
    await sql`update secret_deliveries set next_at = next_at + interval '1 h'`.execute(rows.db);
    expect(await vault.deliver()).toBe(1);
    expect(await show()).toMatchObject({ status: 'ready' });
  });
});
