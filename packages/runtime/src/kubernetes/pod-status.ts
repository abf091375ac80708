import type { ImageErrorCode } from '@bothost/contract';
import { type InstanceEnd, splitExitStatus } from '../instance-end.ts';
import type { StartErrorKind } from '../runtime.ts';
import type { Pod } from './pod-schema.ts';

export const containerName = 'bot';

const never = Number.POSITIVE_INFINITY;

/** Why a pod will not run its bot. */
export type PodFailure = {
  readonly kind: StartErrorKind;
  readonly imageCode?: ImageErrorCode;
  /** A sentence for the agent's owner. */
  readonly message: string;
  /** Milliseconds for which the kubelet may still solve the problem by itself. */
  readonly patienceMs: number;
};

/** What a pod waits for. */
type PodNotice = { readonly notice: 'pulling' | 'waiting'; readonly detail: string };

export type PodPhase =
  /** The bot has not run yet. */
  | { readonly kind: 'waiting'; readonly notice: PodNotice | null; readonly failure: PodFailure | null }
  | { readonly kind: 'running' }
  | {
      readonly kind: 'ended';
      readonly how: Omit<InstanceEnd, 'tail'>;
      /** Why the bot never ran. Null if it ran. */
      readonly failure: PodFailure | null;
    };

/** Determines a pod's phase (Kubernetes, "Pod Lifecycle"). A pod whose node does not respond counts as running. */
export function describePod(pod: Pod, now: Date, previous: PodPhase | null = null): PodPhase {
  const { status } = pod;
  const state = status.containerStatuses?.find(({ name }) => name === containerName)?.state;
  if (state?.terminated !== undefined) return describeEnd(pod, state.terminated, now);
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return describeEnd(pod, null, now);
  if (state?.running !== undefined) return { kind: 'running' };
  const { reason, message = '' } = state?.waiting ?? {};
  const previousFailure = previous?.kind === 'waiting' ? previous.failure : null;
  const failure =
    previousFailure?.kind === 'image' && isBareBackOff(message) ? previousFailure : findFailure(pod, reason, message);
  return { kind: 'waiting', notice: findNotice(pod, failure), failure };
}

function findNotice({ status }: Pod, failure: PodFailure | null): PodNotice | null {
  // Problems that the kubelet solves within seconds are not worth a notice.
  if (failure !== null)
    return failure.patienceMs > configPatienceMs ? { notice: 'waiting', detail: failure.message } : null;
  const scheduled = status.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'True') return { notice: 'pulling', detail: 'a node pulls the image of the bot' };
  if (scheduled?.reason === undefined) return null;
  const isGated = scheduled.reason === 'SchedulingGated';
  const cause = isGated ? 'the cluster holds the pod back' : 'no node can run the pod now';
  return { notice: 'waiting', detail: `${cause}: ${scheduled.message ?? scheduled.reason}` };
}

/** The kubelet looks for a missing Secret again after ten seconds. */
const configPatienceMs = 15_000;
/** An unknown failure of a pull may pass, such as a registry or a DNS server that does not respond. */
const unknownPullPatienceMs = 120_000;
/** The kubelet pulls without the pull secret until the API server lets its node read it, and pulls again after ten seconds. */
const pullSecretPatienceMs = 30_000;

/** The reasons for which a container waits, other than that it is being created. */
function findFailure({ spec }: Pod, reason: string | undefined, message: string): PodFailure | null {
  switch (reason) {
    case 'InvalidImageName':
    case 'ErrImagePull':
    case 'ErrImageNeverPull':
    case 'ImagePullBackOff':
    case 'ImageInspectError':
    case 'RegistryUnavailable':
      return describeImageFailure(reason, message, spec.imagePullSecrets !== undefined);
    case 'CreateContainerConfigError':
      return platform(`The pod cannot be configured: ${message}`, configPatienceMs);
    case 'CreateContainerError':
    case 'RunContainerError':
      return describeCommandFailure(message, configPatienceMs);
    default:
      return null;
  }
}

/** The code of each failure of a pull, by the message of containerd or CRI-O. */
const imageFailures: readonly (readonly [ImageErrorCode, RegExp])[] = [
  ['PCC_IMAGE_PULL_RATE_LIMIT', /toomanyrequests|too many requests|rate limit|pull QPS exceeded|\b429\b/i],
  ['PCC_INVALID_IMAGE_PLATFORM', /no match for platform|no matching manifest|no image found in .* for architecture/i],
  [
    'PCC_IMAGE_PULL_UNAUTHORIZED',
    /unauthorized|no basic auth credentials|authentication required|authorization failed|denied|forbidden|\b40[13]\b/i,
  ],
  ['PCC_IMAGE_NOT_FOUND', /not found|manifest unknown|name unknown|couldn't parse image|invalid reference|\b404\b/i],
];

/** Whether the kubelet names no cause while it waits for the next pull, as older versions do. */
const isBareBackOff = (message: string) => /^Back-off pulling image "[^"]*"\.?$/.test(message);

const imagePatience: Readonly<Partial<Record<ImageErrorCode, number>>> = {
  // The kubelet pulls again, with growing pauses. A registry that limits its clients may permit one of these pulls.
  PCC_IMAGE_PULL_RATE_LIMIT: never,
  PCC_IMAGE_PULL_UNKNOWN_ERROR: unknownPullPatienceMs,
};

function describeImageFailure(reason: string, message: string, hasPullSecret: boolean): PodFailure {
  const [imageCode = 'PCC_IMAGE_PULL_UNKNOWN_ERROR'] =
    reason === 'InvalidImageName' || reason === 'ErrImageNeverPull'
      ? (['PCC_IMAGE_NOT_FOUND'] as const)
      : (imageFailures.find(([, pattern]) => pattern.test(message)) ?? []);
  return {
    kind: 'image',
    imageCode,
    message: `The image could not be pulled: ${shorten(message === '' ? reason : message)}`,
    patienceMs:
      hasPullSecret && imageCode === 'PCC_IMAGE_PULL_UNAUTHORIZED'
        ? pullSecretPatienceMs
        : (imagePatience[imageCode] ?? 0),
  };
}

function describeCommandFailure(message: string, patienceMs: number): PodFailure {
  if (/exec format error/i.test(message)) {
    const text = 'The bot could not be started: the program of the image is for another type of processor.';
    return { kind: 'image', imageCode: 'PCC_INVALID_IMAGE_PLATFORM', message: text, patienceMs: 0 };
  }
  const text = `The bot could not be started: ${shorten(message)}`;
  const isCommand = /no command specified|executable file not found|no such file or directory|permission denied/i;
  return isCommand.test(message)
    ? { kind: 'bot', message: text, patienceMs: 0 }
    : { kind: 'platform', message: text, patienceMs };
}

type Terminated = NonNullable<
  NonNullable<NonNullable<Pod['status']['containerStatuses']>[number]['state']>['terminated']
>;

/** `terminated` is null if no container has run. */
function describeEnd({ status }: Pod, terminated: Terminated | null, now: Date): PodPhase {
  const finishedAt = Date.parse(terminated?.finishedAt ?? '');
  // The API omits the fraction of a second. The bot has not ended after the end of this second.
  const at = new Date(finishedAt > 0 ? Math.min(now.getTime(), finishedAt + 999) : now);
  const exceedsDisk = status.reason === 'Evicted' && /ephemeral.*(?:storage|limit)/i.test(status.message ?? '');
  const cause = describeReason(status) ?? describeDisruptionTarget(status);
  const how = {
    ...splitExitStatus(terminated?.exitCode ?? null),
    at: at.toISOString(),
    outOfMemory: terminated?.reason === 'OOMKilled' && terminated.exitCode !== 0,
    ...(exceedsDisk ? { diskLimit: shorten(status.message ?? '') } : cause === null ? {} : { platformCause: cause }),
  };
  return { kind: 'ended', how, failure: findEndFailure(status, terminated) };
}

function findEndFailure(status: Pod['status'], terminated: Terminated | null): PodFailure | null {
  if (terminated === null)
    return platform(`The node did not run the pod: ${describeReason(status) ?? 'it gave no reason'}`, 0);
  // The runtime of the node refused to run the command. The exit status is then not that of a program.
  const isRefused = terminated.reason === 'StartError' || terminated.reason === 'ContainerCannotRun';
  return isRefused ? describeCommandFailure(terminated.message ?? '', 0) : null;
}

/** Why the node or a controller ended a pod, such as `Evicted: The node was low on resource: memory.` */
function describeReason({ reason, message }: Pod['status']): string | null {
  const cause = [reason, message].filter((part) => part !== undefined).join(': ');
  return cause === '' ? null : shorten(cause);
}

function describeDisruptionTarget({ conditions }: Pod['status']): string | null {
  const disruption = conditions?.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
  if (disruption === undefined) return null;
  return shorten(disruption.message ?? disruption.reason ?? 'The cluster ends the pod.');
}

/** Why a pod must not get a session, as a sentence: the platform will end it, or its node does not respond. Null if it may get one. */
export function findDisruption({ metadata, status }: Pod): string | null {
  const disruption = describeDisruptionTarget(status);
  if (disruption !== null) return disruption;
  if (metadata.deletionTimestamp !== undefined) return 'The pod is being deleted.';
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  // The kubelet always says why a pod is not ready. The controller of the nodes, which sets this for a node that does not respond,
  // changes only the status.
  return ready?.status === 'False' && (ready.reason ?? '') === '' ? 'The node of the pod does not respond.' : null;
}

const platform = (text: string, patienceMs: number): PodFailure => ({
  kind: 'platform',
  message: shorten(text),
  patienceMs,
});

/** One line of at most 300 characters that ends like a sentence. */
function shorten(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ').slice(0, 300);
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
