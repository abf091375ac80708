// For each status that people see, a table maps the values to labels. This file does not import zod, so that `botcli --help`
// starts quickly.

export type StatusLabels<Status extends string> = Readonly<Record<Status, string>>;

/** Lists all values of a status in the order in which they appear in its label table. */
export function listStatusValues<Status extends string>(labels: StatusLabels<Status>): readonly Status[] {
  return Object.keys(labels) as Status[];
}

/** Returns the label of a status, or the status itself if it is unknown, because a newer service may send new statuses. */
export function getStatusLabel<Status extends string>(labels: StatusLabels<Status>, status: string): string {
  return findStatusEntry(labels, status) ?? status;
}

export function findStatusEntry<Status extends string, Entry>(
  table: Readonly<Record<Status, Entry>>,
  status: string,
): Entry | undefined {
  return Object.hasOwn(table, status) ? table[status as Status] : undefined;
}

/** Labels of the field `endState` of a session: whether the session is active and, if not, how it ended. */
export const sessionEndStateLabels = {
  active: 'Active',
  completed: 'Complete',
  ended_before_agent_start: 'Ended before start',
  agent_start_timeout: 'Timeout',
  terminated: 'Terminated',
  agent_error: 'Agent error',
  interrupted: 'Interrupted',
} as const;
export type SessionEndState = keyof typeof sessionEndStateLabels;

/** Completion statuses that the service itself sets. */
export const sessionCompletionStatusLabels = {
  HTTP_COMPLETED: 'The bot finished',
  HTTP_ERROR: 'The bot did not start, crashed, or dropped its connection',
  WS_CONNECTION_CLOSED: 'The WebSocket was closed',
  SERVICE_INTERRUPTED: 'The service stopped while it relayed the session, or could not decrypt its room',
  BOT_START_TIMEOUT: 'No bot became ready and accepted the session in time',
  BOT_CONNECTION_TIMEOUT: 'No client connected in time',
  SESSION_STOPPED: 'Stopped by a request or a shutdown',
  SESSION_TIME_LIMIT: 'Stopped at its time limit',
} as const;
export type ServiceDefinedCompletionStatus = keyof typeof sessionCompletionStatusLabels;

/** Returns the label of a completion status, which may also be an HTTP status or a word that the bot reported. */
export function getSessionCompletionStatusLabel(status: string): string {
  const label = getStatusLabel<string>(sessionCompletionStatusLabels, status);
  if (label !== status) return label;
  return isHttpStatus(status) ? `The bot responded with HTTP status ${status}` : 'Reported by the bot';
}

/** Whether a completion status is the HTTP status of the bot's response. The service counts these sessions as failed. */
export function isHttpStatus(status: string): boolean {
  return /^[0-9]{3}$/.test(status);
}

export const sessionEventLabels = {
  INSTANCE_START_FAILED: 'The bot did not start',
  INSTANCE_REPLACED: 'The session got another instance',
  INSTANCE_EXITED: 'The bot exited',
  INSTANCE_LISTENS_WIDE: 'The bot listens on all network interfaces',
  INSTANCE_CPU_LIMIT_NOT_ENFORCED: 'The CPU limit is not enforced',
  INSTANCE_MEMORY_LIMIT_SAMPLED: 'The memory limit is checked only by sampling',
  INSTANCE_OUTPUT_DROPPED: 'Output of the bot was dropped',
  INSTANCE_PULLING: 'The image of the bot was pulled',
  INSTANCE_WAITING: 'The start waited for the platform',
  SOCKET_REFUSED: 'The bot refused the WebSocket',
  BOT_FAILED: 'The bot failed',
} as const;
export type SessionEventCode = keyof typeof sessionEventLabels;

export const buildStatusLabels = {
  pending: 'Pending',
  building: 'Building',
  success: 'Succeeded',
  failed: 'Failed',
  timeout: 'Timed out',
  canceled: 'Canceled',
} as const;
export type BuildStatus = keyof typeof buildStatusLabels;

export const deploymentStateLabels = {
  preparing: 'Preparing',
  validating: 'Starting the first instance',
  ready: 'Ready',
  failed: 'Failed',
} as const;
export type DeploymentState = keyof typeof deploymentStateLabels;

/** Deployment phases as in the API of Pipecat Cloud: a deployment's state, and whether it serves sessions. */
export const deploymentPhaseLabels = {
  Creating: 'Preparing',
  Validating: 'Starting the first instance',
  Active: 'Serving',
  Draining: 'Draining',
  Failed: 'Failed',
} as const;
export type DeploymentPhase = keyof typeof deploymentPhaseLabels;

/** States of an agent: whether instances of its bot run. */
export const botStateLabels = {
  running: 'Running',
  waiting: 'Waiting',
  terminated: 'Stopped',
} as const;
export type BotState = keyof typeof botStateLabels;

/** States of the delivery of a secret set's revision to its region. */
export const secretSetReadinessLabels = {
  pending: 'Pending',
  ready: 'Ready',
  failed: 'Failed',
} as const;
export type SecretSetReadiness = keyof typeof secretSetReadinessLabels;

export const imagePullSecretCheckResultLabels = {
  verified: 'Verified',
  rejected: 'Rejected',
  unreachable: 'Registry unreachable',
  skipped: 'Not checked',
} as const;
export type ImagePullSecretCheckResult = keyof typeof imagePullSecretCheckResultLabels;

/** States of a maintenance task of the vault, which encrypts the stored secrets. */
export const vaultTaskStateLabels = {
  running: 'Running',
  done: 'Done',
} as const;
export type VaultTaskState = keyof typeof vaultTaskStateLabels;

export const conditionReasonLabels = {
  Preparing: 'Last deploy in progress: preparing',
  Validating: 'Last deploy in progress: starting the first instance',
  PrepareFailed: 'Last deploy failed: not prepared',
  ValidationFailed: 'Last deploy failed: the first instance did not start',
  InstancesFailToStart: 'Instances fail to start',
  InstancesWait: 'An instance waits to start',
} as const;

export const servingLabels = { serving: 'Serving', notServing: 'Not serving' } as const;
export const lastDeployLabels = { deploying: 'In progress', succeeded: 'Succeeded', failed: 'Failed' } as const;

export type AgentStatus = {
  readonly serving: keyof typeof servingLabels;
  readonly lastDeploy: keyof typeof lastDeployLabels;
};

type DeploymentIds = {
  readonly activeDeploymentId: string | null;
  readonly desiredDeploymentId: string;
  readonly reconciledDeploymentId: string | null;
};

/** Returns whether an agent serves sessions, and the result of its last deploy. An agent can serve although that deploy failed. */
export function getAgentStatus(agent: DeploymentIds): AgentStatus {
  const { activeDeploymentId: active, desiredDeploymentId: desired, reconciledDeploymentId: reconciled } = agent;
  return {
    serving: active === null ? 'notServing' : 'serving',
    lastDeploy: active === desired ? 'succeeded' : reconciled === desired ? 'failed' : 'deploying',
  };
}
