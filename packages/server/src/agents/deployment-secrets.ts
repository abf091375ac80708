import { openForDeployment, SecretsUnavailable } from '../secrets/pin.ts';
import { isDamage } from '../secrets/vault/damaged.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { pinsOfDeployment } from './pin-rows.ts';
import { pinnedDeployment } from './pinned-deployments.ts';

/**
 * The values that a deployment's instances are started with, to take them out of what is shown. Null where they do not open
 * any more, as of a set that was deleted.
 */
export async function deploymentSecrets(
  context: { readonly db: Database; readonly keyring: Keyring },
  deploymentId: string,
): Promise<readonly string[] | null> {
  const row = await pinsOfDeployment(context.db, deploymentId);
  if (row === undefined) return [];
  try {
    return Object.values(await openForDeployment(context, pinnedDeployment(row, deploymentId, row.secret_pins)));
  } catch (error) {
    if (error instanceof SecretsUnavailable || isDamage(error)) return null;
    throw error;
  }
}
