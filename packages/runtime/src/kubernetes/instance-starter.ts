import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { notListening, waitUntilReady } from '../bot-readiness.ts';
import { createExitError } from '../instance-end.ts';
import {
  type InstanceAddress,
  type InstanceSpec,
  type RuntimeLogger,
  StartError,
  type StartedInstance,
} from '../runtime.ts';
import { settlesWithin } from '../settles-within.ts';
import { isApiError, isUnavailable } from './api-client.ts';
import type { Instance } from './instance.ts';
import type { InstanceRegistry } from './instance-registry.ts';
import type { PodApi } from './pod-api.ts';
import { createEnvironmentSecretBody, createPodBody, hostLabel, type PodOptions } from './pod-body.ts';
import { addDigest, parsePreparedImage } from './prepared-image.ts';
import { createPullSecretBody, getPullSecretName } from './pull-secret.ts';

/** Milliseconds for which an image may be pulled without a notice. */
const silentPullMs = 3_000;
/** Pauses between two attempts to create a pod for which the cluster has no quota. */
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;
/** Milliseconds until a pod of a forgotten instance is looked for again. */
const removalPauseMs = 200;
/** Milliseconds between two looks at the time while nothing happens to a pod. */
const checkMs = 500;
/** The limit of a Secret. */
const maxEnvironmentBytes = 1024 * 1024;

export type InstanceStarterContext = PodOptions & {
  readonly api: PodApi;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  readonly instances: InstanceRegistry;
  readonly allowsLocalImages: boolean;
  /** Whether variables may have names that a shell could not use, such as `a-b`. */
  readonly acceptsAnyVariable: boolean;
  /** Returns letters and digits that make the name of a Secret unique. */
  readonly randomSuffix: () => string;
};

export type InstanceStarter = {
  readonly start: (spec: InstanceSpec, signal: AbortSignal, launched: () => void) => Promise<StartedInstance>;
  /** Cancels a start in progress. When it resolves, the instance is in the registry or its pod is deleted. */
  readonly cancel: (instanceId: string) => Promise<void>;
  /** Rejects starts in progress and later starts, without stopping bots. */
  readonly close: () => Promise<void>;
};

export function createInstanceStarter(context: InstanceStarterContext): InstanceStarter {
  const { instances } = context;
  const closing = new AbortController();
  const launches = new Map<string, { readonly canceled: AbortController; readonly launched: Promise<Instance> }>();
  const starting = new Set<Promise<unknown>>();

  /** Deletes the pod of a failed start. If its bot has run meanwhile, the instance is left as one that has ended. */
  const remove = async (instanceId: string) => {
    const instance = instances.byId.get(instanceId);
    try {
      await instance?.stop(0);
      if (instance?.hasRun() !== true) await instances.discard(instanceId);
    } catch (error) {
      // The instance is still listed, so the server stops it again.
      context.logger.warn({ instanceId, err: error }, 'pod of failed start could not be deleted');
    }
  };

  const launch = async (spec: InstanceSpec, canceled: AbortSignal): Promise<Instance> => {
    const { instanceId } = spec;
    const signal = AbortSignal.any([canceled, closing.signal]);
    const waits = createWaitNotices(instances, instanceId);
    let hasRequested = false;
    try {
      // Only now: the values are secrets, which no other part keeps.
      const environment = { ...spec.instanceEnvironment?.(), ...(await spec.environment()) };
      requireEnvironment(context, environment);
      signal.throwIfAborted();
      hasRequested = true;
      const instance = await createForInstance(context, spec, environment, signal, waits);
      await waitUntilRunning(context, instance, signal, waits);
      return instance;
    } catch (error) {
      // The next server process continues with the pod.
      if (closing.signal.aborted && !canceled.aborted) throw createCancelError();
      if (hasRequested) await remove(instanceId);
      throw canceled.aborted ? createCancelError(waits.last()) : toStartError(error);
    }
  };

  const launchShared = (spec: InstanceSpec): Promise<Instance> => {
    const known = launches.get(spec.instanceId);
    if (known !== undefined) return known.launched;
    const canceled = new AbortController();
    const launched = launch(spec, canceled.signal);
    launches.set(spec.instanceId, { canceled, launched });
    return launched.finally(() => launches.delete(spec.instanceId));
  };

  const start = async (spec: InstanceSpec, signal: AbortSignal, onLaunched: () => void): Promise<StartedInstance> => {
    const { instanceId } = spec;
    if (signal.aborted || closing.signal.aborted) throw createCancelError();
    const cancel = () => launches.get(instanceId)?.canceled.abort();
    signal.addEventListener('abort', cancel);
    try {
      const known = instances.byId.get(instanceId);
      const instance = known?.hasRun() === true ? known : await launchShared(spec);
      onLaunched();
      const address = await becomeReady(instance, signal, closing.signal);
      const pod = context.allowsLocalImages ? null : instance.pod();
      const prepared = pod === null ? null : addDigest(parsePreparedImage(spec.prepared), pod);
      return prepared === null ? { address } : { address, prepared };
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

  return {
    start: (...options) => {
      const started = start(...options);
      starting.add(started);
      return started.finally(() => starting.delete(started));
    },
    cancel: async (instanceId) => {
      const launch = launches.get(instanceId);
      launch?.canceled.abort();
      await launch?.launched.catch(() => undefined);
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(starting);
    },
  };
}

/** `cause` says what the start waited for. */
const createCancelError = (cause = 'The start was canceled before the bot was ready.') => new StartError(cause, null);

function toStartError(error: unknown): StartError {
  if (error instanceof StartError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StartError(`The pod could not be created: ${message}`, null, { kind: 'platform', cause: error });
}

/** Kubernetes would omit variables that it does not accept, or refuse all of them. */
function requireEnvironment(
  { acceptsAnyVariable }: Pick<InstanceStarterContext, 'acceptsAnyVariable'>,
  environment: Readonly<Record<string, string>>,
): void {
  const bytes = Object.entries(environment).reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(value),
    0,
  );
  if (bytes > maxEnvironmentBytes) {
    const text = `The secrets of the agent have ${bytes} bytes. In a Kubernetes region, an instance can have ${maxEnvironmentBytes}.`;
    throw new StartError(text, null, { kind: 'bot' });
  }
  const invalid = Object.keys(environment).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (invalid === undefined || acceptsAnyVariable) return;
  const text = `The variable "${invalid}" needs Kubernetes 1.34. Rename it, with letters, digits and _ only.`;
  throw new StartError(text, null, { kind: 'bot' });
}

type WaitNotices = {
  /** Reports what a start waits for, once. `detail` is the end of a sentence. */
  readonly add: (notice: 'pulling' | 'waiting', detail: string) => void;
  /** Returns what was reported last, as a sentence. */
  readonly last: () => string | undefined;
};

function createWaitNotices(instances: InstanceRegistry, instanceId: string): WaitNotices {
  const reported = new Set<string>();
  let last: string | undefined;
  return {
    add: (notice, detail) => {
      last = `The start waited: ${detail.replace(/\.*$/, '.')}`;
      if (reported.has(detail)) return;
      reported.add(detail);
      instances.noticed(instanceId, notice, detail);
    },
    last: () => last,
  };
}

/** Creates the pod and its Secrets, or completes what a server process that was killed has begun. */
async function createForInstance(
  context: InstanceStarterContext,
  spec: InstanceSpec,
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
  waits: WaitNotices,
): Promise<Instance> {
  const { api, hostId, instances } = context;
  const instance = instances.byId.get(spec.instanceId) ?? (await createPod(context, spec, signal, waits));
  const pod = instance.pod();
  const name = pod?.spec.containers.flatMap(({ envFrom = [] }) => envFrom.map(({ secretRef }) => secretRef?.name))[0];
  if (pod === null || name === undefined) throw new Error('the pod has no variables');
  await api.createSecret(createEnvironmentSecretBody(name, pod, hostId, environment), signal);
  return instance;
}

async function createPod(
  context: InstanceStarterContext,
  spec: InstanceSpec,
  signal: AbortSignal,
  waits: WaitNotices,
): Promise<Instance> {
  const { api, hostId, instances, allowsLocalImages } = context;
  const { instanceId } = spec;
  const { image, digest } = parsePreparedImage(spec.prepared);
  const credentials = (await spec.credentials?.()) ?? null;
  if (credentials !== null) await api.createSecret(createPullSecretBody(instanceId, hostId, credentials), signal);
  // Always asks the registry until it has permitted this deployment a pull: a node may have the image of another organization.
  const pullsAlways = digest === undefined && !allowsLocalImages;
  const pullSecret = credentials === null ? null : getPullSecretName(instanceId);
  const secret = `${instanceId}-${context.randomSuffix()}`;
  const body = createPodBody(context, spec, { reference: image, pullsAlways, pullSecret }, secret);
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      const created = instances.changed(await api.create(body, signal));
      if (created !== null) return created;
    } catch (error) {
      signal.throwIfAborted();
      if (isApiError(error, 409) && error.reason === 'AlreadyExists') {
        const existing = await findOwnPod(context, instanceId);
        if (existing !== null) return existing;
        await delay(removalPauseMs, undefined, { signal });
        continue;
      }
      const cause = describeRefusal(error);
      if (cause === null) throw error;
      waits.add('waiting', cause);
      await delay(pauseMs, undefined, { signal });
    }
  }
}

/** Returns the instance of a pod that an earlier request created. Null if the pod is being deleted. */
async function findOwnPod(
  { api, hostId, instances }: InstanceStarterContext,
  instanceId: string,
): Promise<Instance | null> {
  const pod = await api.read(instanceId);
  if (pod === null) return null;
  if (pod.metadata.labels?.[hostLabel] !== hostId) {
    const text = `The name "${instanceId}" belongs to a pod that this service did not create. Delete the pod.`;
    throw new StartError(text, null);
  }
  return pod.metadata.deletionTimestamp === undefined ? instances.changed(pod) : null;
}

/** Why a pod cannot be created now, as the end of a sentence. Null if a later request would be refused, too. */
function describeRefusal(error: unknown): string | null {
  if (isApiError(error, 403) && /exceeded quota/.test(error.message)) return `the quota is used up: ${error.message}`;
  if (isApiError(error, 409) || isUnavailable(error)) return `the cluster does not accept pods now: ${error.message}`;
  return null;
}

/** Waits until the bot runs or has run. Reports why it does not run yet, and rejects if it never will. */
async function waitUntilRunning(
  { now }: Pick<InstanceStarterContext, 'now'>,
  instance: Instance,
  signal: AbortSignal,
  waits: WaitNotices,
): Promise<void> {
  const begunAt = now().getTime();
  const aborted = once(signal, 'abort');
  let failingSince: number | null = null;
  while (!instance.hasRun()) {
    signal.throwIfAborted();
    if (instance.isGone()) throw new StartError('The pod was deleted before its bot ran.', null);
    const phase = instance.phase();
    const failure = phase === null || phase.kind === 'running' ? null : phase.failure;
    const at = now().getTime();
    failingSince = failure === null ? null : (failingSince ?? at);
    if (failure !== null && failingSince !== null && at - failingSince >= failure.patienceMs)
      throw new StartError(failure.message, null, failure);
    const notice = phase?.kind === 'waiting' ? phase.notice : null;
    if (notice !== null && (notice.notice === 'waiting' || at - begunAt >= silentPullMs))
      waits.add(notice.notice, notice.detail);
    await settlesWithin(Promise.race([instance.changed(), aborted]), checkMs);
  }
}

/**
 * Waits until the bot is ready (docs/bot-contract.md, "Readiness"), then records that. The signal `stop` stops the bot; the signal
 * `leave` leaves it running.
 */
async function becomeReady(instance: Instance, stop: AbortSignal, leave: AbortSignal): Promise<InstanceAddress> {
  const known = instance.address();
  if (known !== null && instance.end() === null) return known;
  const waiting = new AbortController();
  const signal = AbortSignal.any([stop, leave, waiting.signal]);
  let state = notListening;
  const readHost = async () => instance.pod()?.status.podIP ?? null;
  const ready = waitUntilReady(readHost, signal, (next) => {
    state = next;
  }).catch(() => null);
  const host = await Promise.race([ready, waitUntilEnded(instance)]);
  waiting.abort();
  const end = instance.end();
  if (end !== null) throw createExitError(end);
  if (host === null) {
    if (leave.aborted && !stop.aborted) throw new StartError('The service shut down before the bot was ready.', null);
    await instance.stop(0);
    const tail = instance.output.tail();
    throw new StartError(`The bot was stopped before it was ready: ${state}.`, null, { kind: 'bot', tail });
  }
  instance.becomeReady();
  const address = instance.address();
  if (address === null) throw new StartError('The pod lost its address.', null);
  return address;
}

async function waitUntilEnded(instance: Instance): Promise<null> {
  while (instance.end() === null) await instance.changed();
  return null;
}
