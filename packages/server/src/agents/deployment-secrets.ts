import { decryptSecretValuesToMask, type SecretValuesToMask } from '../secrets/values-to-mask.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { findSecretPinsOfDeployment } from './pin-rows.ts';

/** Returns the secret values of a deployment's instances, for masking. Omits values that cannot be decrypted. */
export async function readDeploymentSecrets(
  context: { readonly db: Database; readonly keyring: Keyring },
  deploymentId: string,
): Promise<SecretValuesToMask> {
  const row = await findSecretPinsOfDeployment(context.db, deploymentId);
  if (row === undefined) return { values: [], isComplete: true };
  return decryptSecretValuesToMask(context, row.organization_id, row.secret_pins);
}
