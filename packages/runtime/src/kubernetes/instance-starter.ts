import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { botPort } from '../bot-port.ts';
import { createCancelError, createInstanceStarts, type InstanceStarts, waitForBot } from '../instance-starts.ts';
import { type InstanceAddress, type InstanceSpec, type RuntimeLogger, StartError } from '../runtime.ts';
import { settlesWithin } from '../settles-within.ts';
import { isClusterError, isUnavailable } from './cluster-client.ts';
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
/** Milliseconds between two attempts to create a pod while an old one has its name. */
const removalPauseMs = 200;
/** Poll interval in milliseconds, to notice a deadline while a pod does not change. */
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

type Environment = Readonly<Record<string, string>>;

/** Reports what a start waits for. `detail` is the end of a sentence. */
type WaitListener = (notice: 'pulling' | 'waiting', detail: string) => void;

export function createInstanceStarter(context: InstanceStarterContext): InstanceStarts {
  const { api, hostId, instances, allowsLocalImages } = context;

  /** Returns the instance of a pod that an earlier request created. Null if the pod is being deleted. */
  const findOwnPod = async (instanceId: string): Promise<Instance | null> => {
    const pod = await api.read(instanceId);
    if (pod === null) return null;
    if (pod.metadata.labels?.[hostLabel] !== hostId) {
      const text = `The name "${instanceId}" belongs to a pod that this service did not create. Delete the pod.`;
      throw new StartError(text, null);
    }
    return pod.metadata.deletionTimestamp === undefined ? instances.changed(pod) : null;
  };

  /** A request for a pod ends early only if the server closes. Otherwise it would not be known whether there is a pod. */
  const createPod = async (
    spec: InstanceSpec,
    { signal, closing }: { readonly signal: AbortSignal; readonly closing: AbortSignal },
    onWait: WaitListener,
  ): Promise<Instance> => {
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
        const created = instances.changed(await api.create(body, closing));
        if (created !== null) return created;
      } catch (error) {
        signal.throwIfAborted();
        if (isClusterError(error, 409) && error.reason === 'AlreadyExists') {
          const existing = await findOwnPod(instanceId);
          if (existing !== null) return existing;
          await delay(removalPauseMs, undefined, { signal });
          continue;
        }
        const cause = describeRefusal(error);
        if (cause === null) throw error;
        onWait('waiting', cause);
        await delay(pauseMs, undefined, { signal });
      }
    }
  };

  /** Creates the Secret that the pod of an instance gets its variables from. Does nothing if an earlier server process did. */
  const createVariables = async (instance: Instance, environment: Environment, signal: AbortSignal) => {
    const pod = instance.pod();
    const names = pod?.spec.containers.flatMap(({ envFrom = [] }) => envFrom.map(({ secretRef }) => secretRef?.name));
    const name = names?.find((one) => one?.startsWith(`${instance.instanceId}-`));
    if (pod === null || name === undefined) throw new Error('the pod has no variables');
    await api.createSecret(createEnvironmentSecretBody(name, pod, hostId, environment), signal);
  };

  /** Waits until the bot runs or has run. Reports why it does not run yet, and rejects if it never will. */
  const waitUntilRunning = async (instance: Instance, signal: AbortSignal, onWait: WaitListener): Promise<void> => {
    const begunAt = context.now().getTime();
    const aborted = once(signal, 'abort');
    let failingSince: number | null = null;
    while (!instance.hasRun()) {
      signal.throwIfAborted();
      if (instance.isGone()) throw new StartError('The pod was deleted before its bot ran.', null);
      const phase = instance.phase();
      const failure = phase === null || phase.kind === 'running' ? null : phase.failure;
      const at = context.now().getTime();
      failingSince = failure === null ? null : (failingSince ?? at);
      if (failure !== null && failingSince !== null && at - failingSince >= failure.patienceMs)
        throw new StartError(failure.message, null, failure);
      const notice = phase?.kind === 'waiting' ? phase.notice : null;
      if (notice !== null && (notice.notice === 'waiting' || at - begunAt >= silentPullMs))
        onWait(notice.notice, notice.detail);
      await settlesWithin(Promise.race([instance.changed(), aborted]), checkMs);
    }
  };

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

  /** Continues with the pod of a server process that was killed. */
  const launch = async (spec: InstanceSpec, canceled: AbortSignal, closing: AbortSignal): Promise<Instance> => {
    const { instanceId } = spec;
    const signal = AbortSignal.any([canceled, closing]);
    const reported = new Set<string>();
    let lastWait: string | undefined;
    const onWait: WaitListener = (notice, detail) => {
      lastWait = `The start waited: ${detail.replace(/\.*$/, '.')}`;
      if (!reported.has(detail)) instances.events.noticed(instanceId, notice, detail);
      reported.add(detail);
    };
    let hasRequested = false;
    try {
      // Only now: the values are secrets, which no other part keeps.
      const environment = { ...spec.instanceEnvironment?.(), ...(await spec.environment()) };
      requireEnvironment(context, environment);
      signal.throwIfAborted();
      hasRequested = true;
      const instance = instances.byId.get(instanceId) ?? (await createPod(spec, { signal, closing }, onWait));
      await createVariables(instance, environment, signal);
      await waitUntilRunning(instance, signal, onWait);
      return instance;
    } catch (error) {
      // The next server process continues with the pod.
      if (closing.aborted && !canceled.aborted) throw createCancelError();
      if (hasRequested) await remove(instanceId);
      throw canceled.aborted ? createCancelError(lastWait) : toStartError(error);
    }
  };

  return createInstanceStarts({
    find: (instanceId) => {
      const known = instances.byId.get(instanceId);
      return known?.hasRun() === true ? known : undefined;
    },
    launch,
    becomeReady: async (spec, instance, canceled, closing) => {
      const address = await becomeReady(instance, canceled, closing);
      const pod = allowsLocalImages ? null : instance.pod();
      const prepared = pod === null ? null : addDigest(parsePreparedImage(spec.prepared), pod);
      return prepared === null ? { address } : { address, prepared };
    },
  });
}

function toStartError(error: unknown): StartError {
  if (error instanceof StartError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StartError(`The pod could not be created: ${message}`, null, { kind: 'platform', cause: error });
}

/** Kubernetes would omit variables that it does not accept, or refuse all of them. */
function requireEnvironment(
  { acceptsAnyVariable }: Pick<InstanceStarterContext, 'acceptsAnyVariable'>,
  environment: Environment,
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

/** Why a pod cannot be created now, as the end of a sentence. Null if a later request would be refused, too. */
function describeRefusal(error: unknown): string | null {
  if (isClusterError(error, 403) && /exceeded quota/.test(error.message))
    return `the quota is used up: ${error.message}`;
  if (isClusterError(error, 409) || isUnavailable(error))
    return `the cluster does not accept pods now: ${error.message}`;
  return null;
}

/** Waits until the bot is ready, then records that. */
async function becomeReady(instance: Instance, canceled: AbortSignal, closing: AbortSignal): Promise<InstanceAddress> {
  const known = instance.address();
  if (known !== null && instance.end() === null) return known;
  const host = await waitForBot(instance, async () => instance.pod()?.status.podIP ?? null, canceled, closing);
  instance.becomeReady();
  return { host, port: botPort };
}
