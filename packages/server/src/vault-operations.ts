import type { VaultStatus } from '@bothost/contract';
import type { Actor } from './audit/chain.ts';
import type { Context } from './context.ts';
import { otherRegions } from './instances/host.ts';
import { retireFormerKeys } from './secrets/upkeep/retire.ts';
import { rotateOrganizationKeys, rotateRootKey, startReencrypting, startVerifying } from './secrets/upkeep/start.ts';
import { vaultStatus } from './secrets/upkeep/status.ts';
import type { Database } from './store/tables.ts';

type VaultContext = Pick<Context, 'db' | 'now' | 'newId' | 'keyring' | 'rootKeys' | 'workOnVault' | 'logger' | 'host'>;

/** What the operator, `by`, asks of the vault. Long work is noted, answered at once, and done by whichever server comes to it. */
export function vaultOperations(context: VaultContext) {
  async function begin(work: string, start: () => Promise<void>): Promise<VaultStatus> {
    await start();
    context.logger.info({ work }, 'the operator asked for work on the vault');
    context.workOnVault();
    return vaultStatus(context);
  }
  const regions = (db: Database) => otherRegions({ ...context, db }, context.host.region);
  return {
    status: () => vaultStatus(context),
    rotate: (by: Actor, layer: 'root' | 'organization', organization: string | null) =>
      begin(`rotate ${layer}`, () =>
        layer === 'root'
          ? rotateRootKey({ ...context, by, otherRegions: regions })
          : rotateOrganizationKeys({ ...context, by }, organization),
      ),
    reencrypt: (by: Actor) => begin('reencrypt', () => startReencrypting({ ...context, by })),
    verify: (by: Actor, organization: string | null) =>
      begin('verify', () => startVerifying({ ...context, by }, organization)),
    retire: async (by: Actor) => {
      const retired = await retireFormerKeys({ ...context, by });
      context.logger.info({ retired }, 'the operator retired keys of the vault');
      return { ...(await vaultStatus(context)), retired };
    },
  };
}
