import type { VaultStatus } from '@bothost/contract';
import type { Logger } from 'pino';
import type { Actor } from '../../audit/chain.ts';
import type { Database } from '../../store/tables.ts';
import type { MaintenanceContext } from './context.ts';
import { rotateOrganizationKeys, rotateRootKey } from './start.ts';
import { readVaultStatus } from './status.ts';

type Context = MaintenanceContext & {
  readonly newId: () => string;
  readonly logger: Pick<Logger, 'info'>;
  readonly workOnVault: () => void;
  readonly otherRegions: (db: Database) => Promise<readonly string[]>;
};

/** The operator's vault operations. A rotation or verification is stored as a task, which any server may carry out. */
export function createVaultOperations(context: Context) {
  async function begin(work: string, start: () => Promise<void>): Promise<VaultStatus> {
    await start();
    context.logger.info({ work }, 'vault maintenance requested');
    context.workOnVault();
    return readVaultStatus(context);
  }
  return {
    status: () => readVaultStatus(context),
    rotateRootKey: (by: Actor) => begin('rotate root', () => rotateRootKey({ ...context, by })),
    rotateOrganizationKeys: (by: Actor, organization: string | null, options: { readonly isDryRun: boolean }) =>
      begin(options.isDryRun ? 'verify' : 'rotate organization', () =>
        rotateOrganizationKeys({ ...context, by }, organization, options),
      ),
  };
}
