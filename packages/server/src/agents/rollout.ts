import type { AgentDetails } from '@bothost/contract';
import { type DeploymentInstanceCounts, formatDeploymentError } from './deployment-response.ts';
import type { DeploymentRow } from './deployment-rows.ts';

type Revision = NonNullable<AgentDetails['currentRevision']>;
type Condition = AgentDetails['conditions'][number];

/** After this number of consecutive failed starts, a deployment is reported as a crash loop. */
const loopStarts = 2;

/** Computes the state of a rollout. Pure. Without a rollout, `active` and `desired` are the same deployment. */
export function computeRollout(
  desired: DeploymentRow,
  active: DeploymentRow | undefined,
  draining: DeploymentRow | undefined,
  usage: readonly DeploymentInstanceCounts[],
) {
  const current = revisionOf(desired, desired.id === active?.id ? 'Active' : phaseOf(desired), usage);
  const serving = active !== undefined && active.id !== desired.id ? revisionOf(active, 'Active', usage) : null;
  const former = draining === undefined ? null : revisionOf(draining, 'Draining', usage);
  return {
    reconciled: getReconciledDeploymentId(desired, active?.id ?? null),
    currentRevision: current,
    previousRevision: serving ?? former,
    errors: desired.state === 'failed' ? [errorOf(desired)] : [],
    conditions: [
      ...progressOf(desired, active),
      ...[desired, active].flatMap((row) => [...degradedOf(row), ...waitsOf(row, active, usage)]),
    ].filter((condition, index, all) => all.findIndex((other) => other.reason === condition.reason) === index),
  } satisfies Partial<AgentDetails> & { reconciled: string | null };
}

/** The deployment whose rollout completed last. Pass the deployment that the agent's row names: deployment rows may be newer. */
export function getReconciledDeploymentId(
  desired: Pick<DeploymentRow, 'id' | 'state'>,
  activeId: string | null,
): string | null {
  return desired.state === 'failed' ? desired.id : activeId;
}

/** The rollout phase of a deployment that is not serving. */
function phaseOf(row: DeploymentRow): Revision['phase'] {
  switch (row.state) {
    case 'preparing':
      return 'Creating';
    case 'validating':
    case 'ready':
      return 'Validating';
    case 'failed':
      return 'Failed';
  }
}

function revisionOf(
  row: DeploymentRow,
  phase: Revision['phase'],
  usage: readonly DeploymentInstanceCounts[],
): Revision {
  const runs = usage.find(({ deploymentId }) => deploymentId === row.id);
  const ready = runs?.ready ?? 0;
  const since = phase === 'Active' ? row.activated_at : phase === 'Draining' ? row.replaced_at : row.state_at;
  return {
    deploymentID: row.id,
    phase,
    readyReplicas: ready,
    phaseStartedAt: (since ?? row.state_at).toISOString(),
    hasInfrastructureIssue: row.error_code === 'PCC_UNKNOWN_ERROR',
    health: healthOf(row, { phase, ready, started: ready + (runs?.starting ?? 0) }),
  };
}

function healthOf(
  row: DeploymentRow,
  runs: { readonly phase: Revision['phase']; readonly ready: number; readonly started: number },
): Revision['health'] {
  const exit = row.last_exit;
  const serves = runs.phase === 'Active' && row.error === null;
  return {
    // A serving deployment counts as ready even without an instance, because the next session starts one.
    ready: runs.ready > 0 || serves,
    state: row.state === 'failed' ? 'terminated' : runs.ready > 0 || serves ? 'running' : 'waiting',
    restartCount: row.restarts,
    replicasStarted: runs.started,
    reason: row.error === null ? null : reasonOf(row),
    lastExitCode: exit?.code ?? null,
    lastTerminationReason:
      exit === null ? null : exit.outOfMemory ? 'OOMKilled' : exit.code === 0 ? 'Completed' : 'Error',
    message: row.error === null ? null : formatDeploymentError(row.error),
  };
}

function reasonOf(row: DeploymentRow): string {
  if (row.last_exit?.outOfMemory === true) return 'OOMKilled';
  return row.state !== 'failed' && row.restarts >= loopStarts ? 'CrashLoopBackOff' : 'Error';
}

function errorOf(row: DeploymentRow) {
  return { code: row.error_code ?? 'PCC_UNKNOWN_ERROR', message: whole(row) };
}

/**
 * Returns the error message of a deployment, followed by the bot's last output, because existing clients show only the message.
 */
function whole(row: DeploymentRow): string {
  const tail = row.last_exit?.tail.trim() ?? '';
  return formatDeploymentError(tail === '' ? row.error : `${row.error} Last output of the bot: ${tail}`);
}

function progressOf(desired: DeploymentRow, active: DeploymentRow | undefined): readonly Condition[] {
  const servingNote =
    active === undefined ? 'No deployment serves until then.' : 'The previous deployment serves until then.';
  const progressing = (reason: string, message: string): Condition => ({
    type: 'Progressing',
    status: 'True',
    reason,
    message: `${message} ${servingNote}`,
    lastTransitionTime: desired.state_at.toISOString(),
  });
  if (desired.state === 'preparing') return [progressing('Preparing', 'The new deployment is being prepared.')];
  if (desired.state === 'validating' || (desired.state === 'ready' && desired.id !== active?.id)) {
    return [progressing('Validating', 'The first instance of the new deployment has yet to become ready.')];
  }
  return [];
}

function degradedOf(row: DeploymentRow | undefined): readonly Condition[] {
  if (row === undefined || row.error === null) return [];
  const prepareFailed = row.error_code === 'PCC_PREPARE_FAILED';
  const failed = prepareFailed ? 'PrepareFailed' : 'ValidationFailed';
  return [
    {
      type: 'Degraded',
      status: 'True',
      reason: row.state === 'failed' ? failed : 'InstancesFailToStart',
      message: whole(row),
      lastTransitionTime: (row.error_at ?? row.state_at).toISOString(),
    },
  ];
}

/** Why the platform does not run an instance yet. A deployment that serves is degraded then. */
function waitsOf(
  row: DeploymentRow | undefined,
  active: DeploymentRow | undefined,
  usage: readonly DeploymentInstanceCounts[],
): readonly Condition[] {
  const waits = usage.find(({ deploymentId }) => deploymentId === row?.id)?.waits ?? null;
  if (waits === null) return [];
  return [
    {
      type: row?.id === active?.id ? 'Degraded' : 'Progressing',
      status: 'True',
      reason: 'InstancesWait',
      message: formatDeploymentError(waits.detail),
      lastTransitionTime: waits.at,
    },
  ];
}
