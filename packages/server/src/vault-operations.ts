import type { VaultStatus } from '@bothost/contract';
import type { Context } from './context.ts';
import { otherRegions } from './instances/host.ts';
import { retireFormerKeys } from './secrets/upkeep/retire.ts';
import { rotateOrganizationKeys, rotateRootKey, startReencrypting, startVerifying } from './secrets/upkeep/start.ts';
import { vaultStatus } from './secrets/upkeep/status.ts';
import type { Database } from './store/tables.ts';

type VaultContext = Pick<Context, 'db' | 'now' | 'newId' | 'keyring' | 'rootKeys' | 'workOnVault' | 'logger' | 'host'>;

/** What the operator asks of the vault. Long work is noted, answered at once, and done by whichever server comes to it. */
export function vaultOperations(context: VaultContext) {
  async function begin(work: string, start: () => Promise<void>): Promise<VaultStatus> {
    await start();
    context.logger.info({ work }, 'the operator asked for work on the vault');
    context.workOnVault();
    return vaultStatus(context);
  }
  const ofRoot = {
    ...context,
    otherRegions: (db: Database) => otherRegions({ ...context, db }, context.host.region),
  };
  return {
    status: () => vaultStatus(context),
    rotate: (layer: 'root' | 'organization', organization: string | null) =>
      begin(`rotate ${layer}`, () =>
        layer === 'root' ? rotateRootKey(ofRoot) : rotateOrganizationKeys(context, organization),
      ),
    reencrypt: () => begin('reencrypt', () => startReencrypting(context)),
    verify: (organization: string | null) => begin('verify', () => startVerifying(context, organization)),
    retire: async () => {
      const retired = await retireFormerKeys(context);
      context.logger.info({ retired }, 'the operator retired keys of the vault');
      return { ...(await vaultStatus(context)), retired };
    },
  };
}
