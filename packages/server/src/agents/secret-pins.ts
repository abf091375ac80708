import { decryptSecretValuesToMask, type SecretValuesToMask } from '../secrets/values-to-mask.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import {
  findSecretPinsOfDeployment,
  listAgentsWithPullSecret,
  listDeploymentsWithSecretSet,
  listPinnedSecretRevisions,
} from './pin-rows.ts';

/** Returns the revisions of a secret set that a deployment uses, or would use after a rollback. */
export function findPinnedSecretRevisions(db: Database, setId: string): Promise<number[]> {
  return listPinnedSecretRevisions(db, setId);
}

/**
 * Returns the agents whose desired or serving deployment uses a secret set, with the used revision. If both deployments use the
 * set, returns the revision of the desired deployment. Of an image pull secret, each pull uses the newest revision.
 */
export async function findAgentsUsingSecretSet(
  db: Database,
  setId: string,
): Promise<{ readonly name: string; readonly revision: number }[]> {
  const rows = await listDeploymentsWithSecretSet(db, setId);
  const byName = new Map<string, number>();
  for (const { name, secret_pins: pins } of rows) {
    const revision = pins.find((pin) => pin.setId === setId)?.revision ?? 0;
    if (!byName.has(name)) byName.set(name, revision);
  }
  const users = [...byName].map(([name, revision]) => ({ name, revision }));
  return [...users, ...(await listAgentsWithPullSecret(db, setId))];
}

/** Returns the secret values of a deployment's instances, for masking. Omits values that cannot be decrypted. */
export async function readDeploymentSecrets(
  context: { readonly db: Database; readonly keyring: Keyring },
  deploymentId: string,
): Promise<SecretValuesToMask> {
  const row = await findSecretPinsOfDeployment(context.db, deploymentId);
  if (row === undefined) return { values: [], isComplete: true };
  return decryptSecretValuesToMask(context, row.organization_id, row.secret_pins);
}
