import type { IceServer, InstallationCheck } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';
import type { Logger } from 'pino';
import type { RootKeyProvider } from '../secrets/vault/root-key.ts';
import { findVaultProblem } from '../secrets/vault/vault-state.ts';
import type { SessionIceServers } from '../sessions/ice-servers.ts';
import { isConnectionError } from '../store/connection-error.ts';
import type { StoreContext } from '../store/store-context.ts';
import { checkDatabase } from './check-database.ts';
import { checkDisk } from './check-disk.ts';
import { checkIceServers } from './check-ice-servers.ts';
import { checkRuntime } from './check-runtime.ts';
import { type Finding, failed, ok } from './finding.ts';
import type { InstallationSettings } from './installation.ts';

export type ChecksContext = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  readonly logger: Pick<Logger, 'error'>;
  readonly rootKeys: RootKeyProvider;
  readonly runtime: Pick<Runtime, 'list'>;
  readonly iceServersOf: SessionIceServers;
  readonly installation: InstallationSettings;
};

/** Runs all checks at the same time. Never rejects: a check that throws counts as failed. */
export async function checkInstallation(context: ChecksContext): Promise<InstallationCheck[]> {
  const { installation, logger } = context;
  const check = async (subject: string, find: () => Promise<Finding>): Promise<InstallationCheck[]> => {
    const finding = await find().catch((error: unknown) => {
      if (isConnectionError(error))
        return failed('It was not checked, because the database does not respond.', 'See the line "Database".');
      logger.error({ err: error, subject }, 'check of the installation failed');
      return failed('The check itself failed.', 'Read the log of the service.');
    });
    return [{ subject, ...finding }];
  };
  const checks = await Promise.all([
    check('Database', () => checkDatabase(context, installation.isDatabaseEmbedded)),
    check('Disk', () => checkDisk(installation)),
    check('Secrets', () => checkVault(context)),
    check('Runtime', () => checkRuntime(context.runtime, installation)),
    checkIceServers(createTestCredentials(context), installation),
  ]);
  return checks.flat();
}

async function checkVault(context: Pick<ChecksContext, 'db' | 'rootKeys'>): Promise<Finding> {
  const problem = await findVaultProblem(context);
  return problem === null
    ? ok('The root key decrypts the stored secrets.')
    : failed(
        `Stored secrets cannot be decrypted: ${problem}.`,
        'Restore the root key. See docs/operations/vault-and-audit.md.',
      );
}

function createTestCredentials({ newId, iceServersOf }: ChecksContext): readonly IceServer[] {
  // The margin of all credentials is longer than the checks.
  return iceServersOf({ id: newId(), maxSeconds: 0, startedAt: null });
}
