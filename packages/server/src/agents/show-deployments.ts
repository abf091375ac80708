import {
  createApiError,
  type DeploymentDetails,
  type Operations,
  type RequestOf,
  type ResponseOf,
} from '@bothost/contract';
import { listPinnedSecretSets } from '../secrets/pin.ts';
import { createCursorError } from '../store/cursor-error.ts';
import { readSnapshot } from '../store/snapshot.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { type DeploymentInstanceCounts, toDeploymentDetails } from './deployment-response.ts';
import { countDeployments, type DeploymentRow, findDeploymentOfAgent, listDeploymentPage } from './deployment-rows.ts';
import { findRollbackTarget } from './rollback.ts';
import { findAgent } from './rows.ts';

type List = Operations['listDeployments'];
type Scope = { readonly organizationId: string; readonly organizationName: string };
export type UsageOf = (db: Database, agentId: string) => Promise<readonly DeploymentInstanceCounts[]>;

/**
 * Lists the deployments of an agent, newest first. A deleted agent is found by its id.
 *
 * @throws failure `not-found`, `invalid-request`
 */
export function listDeployments(
  context: { db: Database },
  scope: Scope,
  agentName: string,
  query: RequestOf<List>['query'],
  usageOf: UsageOf,
): Promise<ResponseOf<List>> {
  return readSnapshot(context.db, async (db) => {
    const { agent, toDetails } = await loadAgent(db, scope, agentName, usageOf);
    const { limit, offset, cursor } = query;
    if (cursor !== undefined && !isUuid(cursor)) throw createCursorError();
    const rows = await listDeploymentPage(db, agent.id, { limit, offset, after: cursor ?? null });
    return {
      total_count: await countDeployments(db, agent.id),
      deployments: await toDetails(rows),
      nextCursor: rows.length === limit ? (rows.at(-1)?.id ?? null) : null,
    };
  });
}

export function getDeployment(
  context: { db: Database },
  scope: Scope,
  agentName: string,
  deploymentId: string,
  usageOf: UsageOf,
): Promise<DeploymentDetails> {
  return readSnapshot(context.db, async (db) => {
    const { agent, toDetails } = await loadAgent(db, scope, agentName, usageOf);
    const row = await findDeploymentOfAgent(db, agent.id, deploymentId);
    const [details] = await toDetails(row === undefined ? [] : [row]);
    if (details === undefined) throw createApiError('deployment-not-found');
    return details;
  });
}

export function getRollbackTarget(
  context: { db: Database },
  scope: Scope,
  agentName: string,
  usageOf: UsageOf,
): Promise<DeploymentDetails> {
  return readSnapshot(context.db, async (db) => {
    const { agent, toDetails } = await loadAgent(db, scope, agentName, usageOf);
    if (agent.deleted_at !== null || agent.name !== agentName) throw createApiError('not-found');
    const [details] = await toDetails([await findRollbackTarget(db, agent, null)]);
    if (details === undefined) throw createApiError('no-earlier-deployment');
    return details;
  });
}

async function loadAgent(db: Database, scope: Scope, agentName: string, usageOf: UsageOf) {
  const agent = await findAgent(db, scope.organizationId, agentName);
  if (agent === undefined) throw createApiError('not-found');
  const usage = await usageOf(db, agent.id);
  const names = { agentName: agent.name, organizationName: scope.organizationName };
  const toDetails = async (rows: readonly DeploymentRow[]) => {
    const pins = rows.map((row) => row.secret_pins);
    const states = await listPinnedSecretSets(db, scope.organizationId, pins);
    return rows.map((row, index) =>
      toDeploymentDetails(row, names, {
        serving: agent.deleted_at === null && agent.active_deployment_id === row.id,
        activeSessions: usage.find(({ deploymentId }) => deploymentId === row.id)?.activeSessions ?? 0,
        secrets: states[index] ?? [],
      }),
    );
  };
  return { agent, toDetails };
}
