import type { Database } from '../store/tables.ts';
import { listDeploymentsWithSecretSet } from './pin-rows.ts';

/**
 * Returns the agents whose desired or serving deployment uses a secret set, with the used revision. If both deployments use the
 * set, returns the revision of the desired deployment.
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
  return [...byName].map(([name, revision]) => ({ name, revision }));
}
