import {
  type AgentDetails,
  agentProfileResources,
  type DeploymentDetails,
  replaceBracketsWithParentheses,
} from '@bothost/contract';
import type { DeploymentRow } from './deployment-rows.ts';

export type DeploymentInstanceCounts = {
  readonly deploymentId: string;
  readonly activeSessions: number;
  readonly ready: number;
  /** Number of ready instances without a session. */
  readonly idle: number;
  readonly starting: number;
  /** What one of the starting instances waits for. */
  readonly waits: { readonly at: string; readonly detail: string } | null;
};

type Names = { readonly agentName: string; readonly organizationName: string };

/** Formats a deployment as existing clients expect it. */
export function toDeploymentManifest(row: DeploymentRow, names: Names): AgentDetails['deployment'] {
  const limits = agentProfileResources[row.profile];
  return {
    id: row.id,
    serviceId: row.agent_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    manifest: {
      apiVersion: 'v1',
      kind: 'Deployment',
      metadata: { name: names.agentName, namespace: names.organizationName },
      spec: {
        autoScaling: { minReplicas: row.min_agents, maxReplicas: row.max_agents },
        resources: { cpu: `${limits.cpuMillicores}m`, memory: `${limits.memoryBytes / 1_048_576}Mi` },
        ...(row.source.kind === 'image' ? { image: row.source.reference } : {}),
        imagePullSecretName: row.image_pull_secret,
        envFromSecretNames: row.secret_pins.map(({ secretSet }) => secretSet),
        maxSessionDurationSeconds: row.max_session_seconds,
      },
    },
    buildId: row.build_id,
  };
}

export function toDeploymentDetails(
  row: DeploymentRow,
  names: Names,
  of: {
    readonly serving: boolean;
    readonly activeSessions: number;
    readonly secrets: DeploymentDetails['secretRevisions'];
  },
): DeploymentDetails {
  return {
    ...toDeploymentManifest(row, names),
    state: row.state,
    serving: of.serving,
    contentHash: row.source.kind === 'image' ? (row.image_digest ?? '') : row.source.contentHash,
    image: imageOf(row),
    agentProfile: row.profile,
    websocketAuth: row.websocket_auth,
    websocketStart: row.websocket_start,
    fork: row.fork,
    activatedAt: row.activated_at?.toISOString() ?? null,
    rolledBackFrom: row.rolled_back_from,
    createdByKeyId: row.created_by_key_id,
    createdBy: row.created_by,
    secretRevisions: of.secrets,
    activeSessionCount: of.activeSessions,
    failure: problemOf(row),
  };
}

function imageOf(row: DeploymentRow): DeploymentDetails['image'] {
  if (row.source.kind !== 'image') return null;
  const { image_digest: digest, image_pull_secret: pullSecret } = row;
  return {
    reference: row.source.reference,
    digest,
    pullSecret,
    pulling: row.state === 'preparing' ? row.image_layers : null,
  };
}

function problemOf(row: DeploymentRow): DeploymentDetails['failure'] {
  if (row.error === null) return null;
  const exit = row.last_exit;
  return {
    code: row.error_code ?? 'PCC_UNKNOWN_ERROR',
    message: row.error,
    exitCode: exit?.code ?? null,
    signal: exit?.signal ?? null,
    outOfMemory: exit?.outOfMemory ?? false,
    tail: exit?.tail ?? '',
  };
}

/** Replaces square brackets, because an existing client treats them as markup. Null gives a general message. */
export function formatDeploymentError(text: string | null): string {
  return replaceBracketsWithParentheses(text ?? 'The deployment failed.');
}
