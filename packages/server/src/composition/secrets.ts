import { join } from 'node:path';
import { imagePullSecretCheckRateLimit } from '@bothost/contract';
import { findPinnedSecretRevisions } from '../agents/secret-pins.ts';
import { startPollingLoop } from '../concurrency/polling-loop.ts';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { resolveHostBySystem } from '../http-client/ssrf-safe-agent.ts';
import { deliverSecrets } from '../secrets/deliver.ts';
import { startMaintenanceWorker } from '../secrets/maintenance/worker.ts';
import { createImageRegistryConnectionPolicy } from '../secrets/registry/registry-policy.ts';
import { openVault } from '../secrets/vault/open-vault.ts';
import { createSecretWriteQueue } from '../secrets/write-queue.ts';
import { type DataDirectory, deriveKeyFromRootKey } from './data-directory.ts';
import type { Teardown } from './teardown.ts';

type Base = Pick<ServiceContext, 'db' | 'now' | 'newId' | 'logger' | 'host'> & {
  /** True if no other server that uses this database is alive. */
  readonly isAlone: boolean;
};

type Secrets = Pick<
  ServiceContext,
  'keyring' | 'rootKeys' | 'deliverSecrets' | 'workOnVault' | 'queueSecretWrite' | 'registryCheckRate' | 'registries'
>;

/** Timeout in milliseconds for checking the credentials of a container registry. */
const registryTimeoutMs = 5_000;

/**
 * Opens the secret vault, and starts its maintenance and the delivery of secrets.
 *
 * @throws VaultError, KeyFileError
 */
export async function startSecretServices(
  base: Base,
  config: Config,
  data: DataDirectory,
  teardown: Pick<Teardown, 'add'>,
): Promise<Secrets> {
  const { keyring, rootKeys } = await openVault(base, vaultKeysOf(config, data));
  const delivery = startPollingLoop(
    () => deliverSecrets({ ...base, keyring }),
    (error) => base.logger.warn({ err: error }, 'secret delivery failed, retry scheduled'),
  );
  teardown.add(() => delivery.close());
  const maintenance = startMaintenanceWorker({ ...base, keyring, rootKeys, pinsOf: findPinnedSecretRevisions });
  teardown.add(() => maintenance.close());
  return {
    keyring,
    rootKeys,
    deliverSecrets: delivery.wake,
    workOnVault: maintenance.wake,
    queueSecretWrite: createSecretWriteQueue(base.now),
    registryCheckRate: createRateLimit(imagePullSecretCheckRateLimit, base.now),
    registries: {
      policy: createImageRegistryConnectionPolicy(config.registries, config.registryTokenHosts),
      resolve: resolveHostBySystem,
      timeoutMs: registryTimeoutMs,
    },
  };
}

/** Root keys: those in BOTHOST_VAULT_KEYS, then one derived from BOTHOST_KEY. Without either, the vault creates files. */
function vaultKeysOf(config: Config, data: DataDirectory) {
  const own = config.secrets.vaultKeys.map((key) => Buffer.from(key, 'hex'));
  const derived = config.secrets.rootKey === undefined ? [] : [deriveKeyFromRootKey(data.rootKey, 'vault')];
  return { keys: [...own, ...derived], folder: join(data.path, 'vault-keys') };
}
