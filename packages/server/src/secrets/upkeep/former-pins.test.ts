import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../../test/support/test-rows.ts';
import { pairs, testVault } from '../../../test/support/test-vault.ts';
import { newId } from '../../store/uuid.ts';
import { deleteSecretSet } from '../delete.ts';
import { openForDeployment, SecretsUnavailable } from '../pin.ts';
import { type PinnedDeployment, stampPins } from '../stamped-pins.ts';
import { encode } from '../vault/encode.ts';
import { vaultProblem } from '../vault/vault-state.ts';
import { stampFormerPins } from './former-pins.ts';
import { reencrypt } from './reencrypt.ts';
import { retireFormerKeys } from './retire.ts';
import { countFormerKeys, countSealed } from './rows.ts';
import { verifyVault } from './verify.ts';

describe('what a deployment is pinned to', () => {
  let rows: TestRows;
  let vault: Awaited<ReturnType<typeof testVault>>;
  let home: string;
  let deployment: PinnedDeployment;

  beforeEach(async () => {
    rows = await testRows();
    vault = await testVault(rows);
    home = await rows.organization('home');
    await vault.put(home, 'keys', pairs({ A: 'one' }));
    await vault.put(home, 'keys', pairs({ A: 'two' }));
    await vault.put(home, 'others', pairs({ B: 'three' }));
    const { rows: sets } = await sql<{ id: string }>`select id from secret_sets where name = 'keys'`.execute(rows.db);
    const pins = [{ secretSet: 'keys', setId: sets[0]?.id ?? '', revision: 2 }];
    const deploymentId = await rows.deployment(await rows.agent(home), { secret_pins: JSON.stringify(pins) });
    deployment = { deploymentId, organizationId: home, region: 'us-west', pins };
  });
  afterEach(() => rows.close());

  const context = () => ({
    ...vault.context,
    rootKeys: vault.rootKeys,
    pinsOf: async (_: unknown, setId: string) =>
      deployment.pins.filter((pin) => pin.setId === setId).map(({ revision }) => revision),
    pinnedIn: async () => [deployment],
  });
  const open = (change: Partial<PinnedDeployment> = {}) =>
    openForDeployment(vault.context, { ...deployment, ...change });
  const damaged = { name: 'SecretsUnavailable', lasting: true, message: expect.stringContaining('was changed') };
  const former = () => countFormerKeys(rows.db);

  it('stays so while the keys of its organization go round, and is stamped with the newest one', async () => {
    await stampPins(vault.context, deployment);
    await vault.context.keyring.rotate(rows.db, home);
    expect(await open()).toEqual({ A: 'two' });
    expect(await countSealed(rows.db)).toMatchObject({ pins: 1, pinsBehind: 1 });
    expect(await former()).toEqual({ former: 3, referenced: 3 });
    expect(await reencrypt(context(), async () => undefined)).toEqual({ findings: [], broken: 0 });
    expect(await countSealed(rows.db)).toMatchObject({ pins: 1, pinsBehind: 0 });
    await retireFormerKeys(context());
    expect(await former()).toEqual({ former: 0, referenced: 0 });
    expect(await open()).toEqual({ A: 'two' });
    expect(await verifyVault(context(), null, async () => undefined)).toEqual([]);
  });

  it('keeps its key, also when all sets were deleted', async () => {
    await stampPins(vault.context, deployment);
    for (const name of ['keys', 'others']) {
      await deleteSecretSet(vault.context, vault.scopeOf(home), name, { force: true }, async () => []);
    }
    await vault.context.keyring.rotate(rows.db, home);
    expect(await former()).toEqual({ former: 3, referenced: 1 });
    await retireFormerKeys(context());
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('was deleted') });
    await reencrypt(context(), async () => undefined);
    await retireFormerKeys(context());
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining('was deleted') });
    expect(await verifyVault(context(), null, async () => undefined)).toEqual([]);
  });

  it('is never stamped anew when it was changed', async () => {
    await stampPins(vault.context, deployment);
    await sql`update secret_pins set revision = 1`.execute(rows.db);
    await vault.context.keyring.rotate(rows.db, home);
    expect(await reencrypt(context(), async () => undefined)).toMatchObject({
      broken: 1,
      findings: [{ organization: 'home', set: 'keys', problem: expect.stringContaining('secret_pins was changed') }],
    });
    const pins = deployment.pins.map((pin) => ({ ...pin, revision: 1 }));
    await expect(open({ pins })).rejects.toMatchObject(damaged);
  });

  it('gives nothing with another revision, name, region or deployment, or with none', async () => {
    await stampPins(vault.context, deployment);
    const [pin] = deployment.pins;
    if (pin === undefined) throw new Error('there is a pin');
    for (const change of [
      { pins: [{ ...pin, revision: 1 }] },
      { pins: [{ ...pin, secretSet: 'others' }] },
      { pins: [pin, pin] },
      { pins: [] },
      { region: 'eu' },
      { organizationId: await rows.organization() },
    ]) {
      await expect(open(change), JSON.stringify(change)).rejects.toMatchObject(damaged);
    }
    const other = await rows.deployment(await rows.agent(home, { name: 'other' }));
    await expect(open({ deploymentId: other })).rejects.toMatchObject(damaged);
    await sql`update secret_pins set deployment_id = ${other}`.execute(rows.db);
    await expect(open({ deploymentId: other })).rejects.toBeInstanceOf(SecretsUnavailable);
  });

  describe('of before pins had stamps', () => {
    /** As the migration leaves it, with the canary of a server of before. */
    const asBefore = async (canary: Buffer) =>
      sql`update vault_state set pins_stamped = false, canary = ${canary}`.execute(rows.db);
    const state = () => rows.db.selectFrom('vault_state').selectAll().executeTakeFirstOrThrow();
    const formerCanary = async () => {
      const { root_key_id: id, created_at: at } = await state();
      return vault.rootKeys.wrap(Buffer.from('This opens with the right key.  '), id, encode(['canary', at.getTime()]));
    };

    it('is stamped once, at the first start', async () => {
      await asBefore(await formerCanary());
      expect(await vaultProblem(context())).toBeNull();
      await expect(open()).rejects.toMatchObject(damaged);
      await Promise.all([stampFormerPins(context()), stampFormerPins(context())]);
      expect(await open()).toEqual({ A: 'two' });
      expect(await vaultProblem(context())).toBeNull();
      await sql`delete from secret_pins`.execute(rows.db);
      await stampFormerPins(context());
      await expect(open()).rejects.toMatchObject(damaged);
    });

    it('keeps no service from starting, whatever it says, and no other deployment from being stamped', async () => {
      const [pin] = deployment.pins;
      if (pin === undefined) throw new Error('there is a pin');
      const strange = [
        [pin, pin],
        [{ ...pin, revision: 'y' }],
        [{ ...pin, revision: 2 ** 31 }],
        [{ ...pin, secretSet: null }],
        [{ ...pin, secretSet: '\0' }],
        [{ ...pin, setId: 'x' }],
        [null],
        null,
      ] as unknown as PinnedDeployment['pins'][];
      for (const pins of strange) {
        await asBefore(await formerCanary());
        const deploymentId = await rows.deployment(await rows.agent(home, { name: newId() }));
        const changed = { ...deployment, deploymentId, pins };
        await stampFormerPins({ ...context(), pinnedIn: async () => [changed, deployment] });
        await expect(open({ deploymentId, pins }), JSON.stringify(pins)).rejects.toMatchObject(damaged);
        expect(await open()).toEqual({ A: 'two' });
        await sql`delete from secret_pins`.execute(rows.db);
      }
    });

    it('is not stamped by who only says that it was before', async () => {
      await sql`update vault_state set pins_stamped = false`.execute(rows.db);
      expect(await vaultProblem(context())).toContain('does not open what was sealed with it');
    });
  });
});
