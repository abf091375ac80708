import type { PinnedDeployment } from '../secrets/stamped-pins.ts';
import type { Database, SecretPin } from '../store/tables.ts';
import { deploymentsWithPins } from './pin-rows.ts';
import type { AgentRow } from './rows.ts';

/** A deployment of an agent, as the vault knows it. */
export function pinnedDeployment(
  agent: Pick<AgentRow, 'organization_id' | 'region'>,
  deploymentId: string,
  pins: readonly SecretPin[],
): PinnedDeployment {
  return { deploymentId, organizationId: agent.organization_id, region: agent.region, pins };
}

/** All deployments of an organization that say that they are pinned to a secret set, whatever became of their agents. */
export async function pinnedDeployments(db: Database, organizationId: string): Promise<PinnedDeployment[]> {
  const rows = await deploymentsWithPins(db, organizationId);
  return rows.map((row) => pinnedDeployment(row, row.id, row.secret_pins));
}
