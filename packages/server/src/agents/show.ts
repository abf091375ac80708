import { type AgentDetails, type AgentListItem, failure, profiles } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { type AgentRow, agentsOf, type DeploymentRow, deploymentsByIds, findAgent } from './rows.ts';

/** What runs of an agent at the moment; counted by `instances/`, which stands above. */
export type AgentUsage = {
  readonly activeSessions: number;
  readonly idle: number;
  readonly starting: number;
};

export async function listAgents(
  context: { db: Database },
  scope: { organizationId: string; organizationName: string },
  query: { includeActiveDeployment: boolean; region: string | undefined },
): Promise<AgentListItem[]> {
  const agents = await agentsOf(context.db, scope.organizationId, query.region);
  const ids = agents.flatMap((agent) => (agent.active_deployment_id === null ? [] : [agent.active_deployment_id]));
  const deployments = query.includeActiveDeployment ? await deploymentsByIds(context.db, ids) : [];
  return agents.flatMap((agent) => {
    const desired = agent.desired_deployment_id;
    if (desired === null) return [];
    const active = deployments.find((deployment) => deployment.id === agent.active_deployment_id);
    const item: AgentListItem = { ...listItem(agent, desired), deletedAt: agent.deleted_at?.toISOString() ?? null };
    return [
      active === undefined ? item : { ...item, deployment: manifestOf(active, agent.name, scope.organizationName) },
    ];
  });
}

/** @throws failure `not-found` */
export async function getAgent(
  context: { db: Database },
  scope: { organizationId: string; organizationName: string },
  agentName: string,
  usageOf: (agentId: string) => Promise<AgentUsage>,
): Promise<AgentDetails> {
  const agent = await findAgent(context.db, scope.organizationId, agentName);
  const desiredId = agent?.desired_deployment_id ?? null;
  if (agent === undefined || agent.deleted_at !== null || desiredId === null) throw failure('not-found');
  const ids = [desiredId, agent.active_deployment_id].filter((id) => id !== null);
  const deployments = await deploymentsByIds(context.db, ids);
  const desired = deployments.find((deployment) => deployment.id === desiredId);
  if (desired === undefined) throw failure('not-found');
  const active = deployments.find((deployment) => deployment.id === agent.active_deployment_id);
  return details(agent, desired, active, await usageOf(agent.id), scope.organizationName);
}

function details(
  agent: AgentRow,
  desired: DeploymentRow,
  active: DeploymentRow | undefined,
  usage: AgentUsage,
  organizationName: string,
): AgentDetails {
  const serving = active ?? desired;
  const failed = desired.state === 'failed';
  return {
    ...listItem(agent, desired.id),
    ready: active !== undefined,
    available: active !== undefined,
    activeDeploymentReady: active !== undefined && active.id === desired.id,
    autoScaling: { minReplicas: serving.min_agents, maxReplicas: serving.max_agents },
    activeSessionCount: usage.activeSessions,
    idleInstanceCount: usage.idle,
    startingInstanceCount: usage.starting,
    agentProfile: serving.profile,
    maxSessionDuration: serving.max_session_seconds,
    websocketAuth: serving.websocket_auth,
    krispViva: null,
    deployment: manifestOf(desired, agent.name, organizationName),
    currentRevision: active === undefined ? null : revision(active, 'Active', usage),
    previousRevision: null,
    errors: failed ? [{ code: 'PCC_UNKNOWN_ERROR', message: plain(desired.error) }] : [],
    conditions: conditions(desired),
  };
}

function listItem(agent: AgentRow, desiredId: string) {
  return {
    id: agent.id,
    name: agent.name,
    region: agent.region,
    organizationId: agent.organization_id,
    desiredDeploymentId: desiredId,
    reconciledDeploymentId: agent.active_deployment_id,
    activeDeploymentId: agent.active_deployment_id,
    createdAt: agent.created_at.toISOString(),
    updatedAt: agent.updated_at.toISOString(),
  };
}

function conditions(desired: DeploymentRow): AgentDetails['conditions'] {
  const lastTransitionTime = desired.updated_at.toISOString();
  switch (desired.state) {
    case 'failed':
      return [
        {
          type: 'Degraded',
          status: 'True',
          reason: 'PrepareFailed',
          message: plain(desired.error),
          lastTransitionTime,
        },
      ];
    case 'preparing':
      return [
        {
          type: 'Progressing',
          status: 'True',
          reason: 'Preparing',
          message: 'The new deployment is being prepared.',
          lastTransitionTime,
        },
      ];
    case 'ready':
      return desired.error === null
        ? []
        : [
            {
              type: 'Degraded',
              status: 'True',
              reason: 'InstancesFailToStart',
              message: plain(desired.error),
              lastTransitionTime,
            },
          ];
  }
}

function manifestOf(deployment: DeploymentRow, agentName: string, organizationName: string) {
  const limits = profiles[deployment.profile as keyof typeof profiles];
  return {
    id: deployment.id,
    serviceId: deployment.agent_id,
    createdAt: deployment.created_at.toISOString(),
    updatedAt: deployment.updated_at.toISOString(),
    manifest: {
      apiVersion: 'v1',
      kind: 'Deployment',
      metadata: { name: agentName, namespace: organizationName },
      spec: {
        autoScaling: { minReplicas: deployment.min_agents, maxReplicas: deployment.max_agents },
        resources: { cpu: `${limits.cpuMillicores}m`, memory: `${limits.memoryBytes / 1_048_576}Mi` },
        imagePullSecretName: null,
        envFromSecretNames: [],
        maxSessionDurationSeconds: deployment.max_session_seconds,
      },
    },
    buildId: null,
  };
}

function revision(deployment: DeploymentRow, phase: 'Active', usage: AgentUsage) {
  return {
    deploymentID: deployment.id,
    phase,
    readyReplicas: usage.idle + usage.activeSessions,
    phaseStartedAt: deployment.updated_at.toISOString(),
    hasInfrastructureIssue: false,
    health: {
      ready: true,
      state: 'running' as const,
      restartCount: 0,
      replicasStarted: usage.idle + usage.activeSessions + usage.starting,
      reason: null,
      lastExitCode: null,
      lastTerminationReason: null,
      message: null,
    },
  };
}

/** Messages hold no square brackets (decisions, "text of messages"). */
function plain(text: string | null): string {
  return (text ?? 'The deployment failed.').replaceAll('[', '(').replaceAll(']', ')');
}
