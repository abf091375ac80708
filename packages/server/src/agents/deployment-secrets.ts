import { decryptReadableValues, type ReadableValues } from '../secrets/readable-values.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { findPinsOfDeployment } from './pin-rows.ts';

/** Returns the secret values of a deployment's instances, for masking. Omits values that cannot be decrypted. */
export async function readDeploymentSecrets(
  context: { readonly db: Database; readonly keyring: Keyring },
  deploymentId: string,
): Promise<ReadableValues> {
  const row = await findPinsOfDeployment(context.db, deploymentId);
  if (row === undefined) return { values: [], isComplete: true };
  return decryptReadableValues(context, row.organization_id, row.secret_pins);
}
