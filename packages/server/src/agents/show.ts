import {
  type AgentDetails,
  type AgentListItem,
  type ConversationLevel,
  createApiError,
  type Operations,
  type ResponseOf,
} from '@bothost/contract';
import { listPinnedSecretSets } from '../secrets/pin.ts';
import { readSnapshot } from '../store/snapshot.ts';
import type { Database } from '../store/tables.ts';
import { type DeploymentInstanceCounts, toDeploymentManifest } from './deployment-response.ts';
import { type DeploymentRow, findDeploymentsByIds } from './deployment-rows.ts';
import { computeRollout } from './rollout.ts';
import { type AgentRow, findAgent, listAgentRows } from './rows.ts';
import type { UsageOf } from './show-deployments.ts';

type Scope = { readonly organizationId: string; readonly organizationName: string };

/** Lists the agents of an organization, optionally of one region, with the states of their secret sets. */
export function listAgents(
  context: { db: Database },
  scope: Scope,
  query: { includeActiveDeployment: boolean; region: string | undefined },
): Promise<AgentListItem[]> {
  return readSnapshot(context.db, async (db) => {
    const agents = await listAgentRows(db, scope.organizationId, query.region);
    const ids = agents.flatMap(({ active_deployment_id, desired_deployment_id }) =>
      [active_deployment_id, desired_deployment_id].filter((id) => id !== null),
    );
    const deployments = new Map((await findDeploymentsByIds(db, ids)).map((row) => [row.id, row]));
    const pins = agents.map((agent) => {
      const { active_deployment_id: active, desired_deployment_id: desired } = agent;
      return deployments.get(active ?? desired ?? '')?.secret_pins ?? [];
    });
    const secrets = await listPinnedSecretSets(db, scope.organizationId, pins);
    return agents.flatMap((agent, index) => {
      const desired = deployments.get(agent.desired_deployment_id ?? '');
      if (desired === undefined) return [];
      const active = deployments.get(agent.active_deployment_id ?? '');
      const item: AgentListItem = {
        ...listItem(agent, computeRollout(desired, active, undefined, []).reconciled, desired.id),
        deletedAt: agent.deleted_at?.toISOString() ?? null,
        secretSets: secrets[index] ?? [],
      };
      if (active === undefined || !query.includeActiveDeployment) return [item];
      const names = { agentName: agent.name, organizationName: scope.organizationName };
      return [{ ...item, deployment: toDeploymentManifest(active, names) }];
    });
  });
}

export function getAgent(
  context: { db: Database; maxConversationLevel: ConversationLevel },
  scope: Scope,
  agentName: string,
  usageOf: UsageOf,
): Promise<AgentDetails> {
  return readSnapshot(context.db, async (db) => {
    const agent = await findAgent(db, scope.organizationId, agentName);
    const desiredId = agent?.desired_deployment_id ?? null;
    if (agent === undefined || agent.deleted_at !== null || desiredId === null) throw createApiError('not-found');
    const usage = await usageOf(db, agent.id);
    const ids = [desiredId, agent.active_deployment_id, ...usage.map(({ deploymentId }) => deploymentId)];
    const deployments = await findDeploymentsByIds(
      db,
      ids.filter((id) => id !== null),
    );
    const desired = deployments.find((deployment) => deployment.id === desiredId);
    if (desired === undefined) throw createApiError('not-found');
    const serving = deployments.find((deployment) => deployment.id === agent.active_deployment_id) ?? desired;
    const [secretSets = []] = await listPinnedSecretSets(db, scope.organizationId, [serving.secret_pins]);
    const conversation = {
      level: agent.conversation_level,
      maximumLevel: context.maxConversationLevel,
      redact: agent.conversation_redact,
    };
    return { ...details(agent, desired, deployments, usage, scope.organizationName), conversation, secretSets };
  });
}

/** Returns whether an agent is ready, and the transports of its bot. A caller with a public API key can read nothing else about an agent. */
export async function checkAgent(
  context: { db: Database },
  scope: Pick<Scope, 'organizationId'>,
  agentName: string,
): Promise<ResponseOf<Operations['checkAgent']>> {
  const agent = await findAgent(context.db, scope.organizationId, agentName);
  if (agent === undefined || agent.deleted_at !== null) throw createApiError('not-found');
  const active = agent.active_deployment_id;
  const [serving] = active === null ? [] : await findDeploymentsByIds(context.db, [active]);
  return { name: agent.name, ready: serving !== undefined, transports: serving?.transports ?? null };
}

function details(
  agent: AgentRow,
  desired: DeploymentRow,
  deployments: readonly DeploymentRow[],
  usage: readonly DeploymentInstanceCounts[],
  organizationName: string,
): Omit<AgentDetails, 'conversation' | 'secretSets'> {
  const active = deployments.find((deployment) => deployment.id === agent.active_deployment_id);
  const [draining] = deployments
    .filter((row) => row.replaced_at !== null)
    .sort((one, other) => (other.replaced_at?.getTime() ?? 0) - (one.replaced_at?.getTime() ?? 0));
  const serving = active ?? desired;
  const sum = (key: 'activeSessions' | 'idle' | 'starting') => usage.reduce((total, row) => total + row[key], 0);
  const { reconciled, ...rollout } = computeRollout(desired, active, draining, usage);
  return {
    ...listItem(agent, reconciled, desired.id),
    ready: active !== undefined,
    available: active !== undefined,
    activeDeploymentReady: active !== undefined && active.id === desired.id,
    autoScaling: { minReplicas: serving.min_agents, maxReplicas: serving.max_agents },
    activeSessionCount: sum('activeSessions'),
    idleInstanceCount: sum('idle'),
    startingInstanceCount: sum('starting'),
    agentProfile: serving.profile,
    maxSessionDuration: serving.max_session_seconds,
    websocketAuth: serving.websocket_auth,
    transports: serving.transports,
    krispViva: null,
    deployment: toDeploymentManifest(desired, { agentName: agent.name, organizationName }),
    ...rollout,
  };
}

function listItem(agent: AgentRow, reconciledId: string | null, desiredId: string) {
  return {
    id: agent.id,
    name: agent.name,
    region: agent.region,
    organizationId: agent.organization_id,
    desiredDeploymentId: desiredId,
    reconciledDeploymentId: reconciledId,
    activeDeploymentId: agent.active_deployment_id,
    createdAt: agent.created_at.toISOString(),
    updatedAt: agent.updated_at.toISOString(),
  };
}
