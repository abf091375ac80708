import { openPinned, SecretsUnavailable } from '../secrets/pin.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { findDeployment } from './deployment-rows.ts';

/**
 * The values that a deployment's instances are started with, to take them out of what is shown. None where they do not open
 * any more, as of a set that was deleted: nobody knows them then.
 */
export async function deploymentSecrets(
  context: { readonly db: Database; readonly keyring: Keyring },
  organizationId: string,
  deploymentId: string,
): Promise<readonly string[]> {
  const pins = (await findDeployment(context.db, deploymentId))?.secret_pins ?? [];
  try {
    return Object.values(await openPinned(context, organizationId, pins));
  } catch (error) {
    if (error instanceof SecretsUnavailable) return [];
    throw error;
  }
}
