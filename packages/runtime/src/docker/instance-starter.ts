import { botPort } from '../bot-port.ts';
import { notListening, waitUntilReady } from '../bot-readiness.ts';
import { createExitError } from '../instance-end.ts';
import {
  type InstanceAddress,
  type InstanceSpec,
  ProjectPreparationError,
  type RuntimeLogger,
  StartError,
  type StartedInstance,
} from '../runtime.ts';
import {
  type ContainerOptions,
  createContainer,
  getContainerName,
  readContainer,
  removeContainer,
  startContainer,
} from './containers.ts';
import { type EngineClient, EngineError, isEngineError } from './engine-client.ts';
import type { Images } from './images.ts';
import type { Instance } from './instance.ts';
import type { InstanceRecordStore } from './instance-record.ts';
import type { InstanceRegistry } from './instance-registry.ts';
import { hostLabel, instanceLabel } from './labels.ts';
import { ensureNetwork, getNetworkName } from './network.ts';
import { parsePreparedImage } from './prepared-image.ts';

export type InstanceStarterContext = ContainerOptions & {
  readonly engine: EngineClient;
  readonly logger: RuntimeLogger;
  readonly images: Pick<Images, 'pull'>;
  readonly instances: InstanceRegistry;
  readonly records: InstanceRecordStore;
};

export type InstanceStarter = {
  readonly start: (spec: InstanceSpec, signal: AbortSignal, launched: () => void) => Promise<StartedInstance>;
  /** Cancels a start in progress. When it resolves, the instance is in the registry or its container is removed. */
  readonly cancel: (instanceId: string) => Promise<void>;
  /** Rejects starts in progress and later starts, without stopping bots. */
  readonly close: () => Promise<void>;
};

export function createInstanceStarter(context: InstanceStarterContext): InstanceStarter {
  const { engine, instances } = context;
  const closing = new AbortController();
  const launches = new Map<string, { readonly canceled: AbortController; readonly launched: Promise<Instance> }>();
  const starting = new Set<Promise<unknown>>();

  const launch = async (spec: InstanceSpec, canceled: AbortSignal): Promise<Instance> => {
    const { instanceId } = spec;
    instances.launching.add(instanceId);
    try {
      const conversation = await context.records.create(instanceId);
      const containerId = await createForInstance(context, spec, canceled).catch(async (error: unknown) => {
        await context.records.remove(instanceId);
        throw error;
      });
      try {
        canceled.throwIfAborted();
        const record = {
          deploymentId: spec.deploymentId,
          organizationId: spec.organizationId,
          containerId,
          cpuMillicores: spec.limits.cpuMillicores,
          host: null,
          conversation: conversation.lines,
          recording: conversation.recording,
        };
        context.records.write(instanceId, record);
        await startOnNetwork(context, containerId);
        return instances.add(instanceId, record);
      } catch (error) {
        // If the engine does not respond, `synchronize` removes the container once it does.
        await removeContainer(engine, containerId, true).catch((failure: unknown) => {
          context.logger.warn({ instanceId, err: failure }, 'container of failed start could not be removed');
        });
        await context.records.remove(instanceId);
        throw error;
      }
    } finally {
      instances.launching.delete(instanceId);
    }
  };

  const launchShared = (spec: InstanceSpec): Promise<Instance> => {
    const known = launches.get(spec.instanceId);
    if (known !== undefined) return known.launched;
    const canceled = new AbortController();
    const launched = launch(spec, AbortSignal.any([canceled.signal, closing.signal])).catch((error: unknown) => {
      throw toStartError(error, canceled.signal.aborted || closing.signal.aborted);
    });
    launches.set(spec.instanceId, { canceled, launched });
    return launched.finally(() => launches.delete(spec.instanceId));
  };

  const start = async (spec: InstanceSpec, signal: AbortSignal, onLaunched: () => void): Promise<StartedInstance> => {
    const { instanceId } = spec;
    if (signal.aborted || closing.signal.aborted) throw createCancelError();
    const cancel = () => launches.get(instanceId)?.canceled.abort();
    signal.addEventListener('abort', cancel);
    try {
      const instance = instances.byId.get(instanceId) ?? (await launchShared(spec));
      onLaunched();
      return { address: await becomeReady(context, instance, signal, closing.signal) };
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

const createCancelError = () => new StartError('The start was canceled before the bot was ready.', null);

function toStartError(error: unknown, isCanceled: boolean): StartError {
  if (error instanceof StartError) return error;
  if (isCanceled) return createCancelError();
  if (error instanceof ProjectPreparationError)
    return new StartError(error.message, null, { kind: 'image', imageCode: error.imageCode, cause: error });
  const message = error instanceof Error ? error.message : String(error);
  if (/bind source path does not exist/.test(message)) {
    const text =
      'The Docker engine does not see the data directory of the service. Mount it at the same path as on the machine.';
    return new StartError(text, null, { kind: 'platform', cause: error });
  }
  if (/exec format error/.test(message)) {
    const text = 'The bot could not be started: the program of the image is for another type of processor.';
    return new StartError(text, null, { kind: 'image', imageCode: 'PCC_INVALID_IMAGE_PLATFORM', cause: error });
  }
  // The engine refuses the command of the image: it is missing, or not a program.
  const isCommand =
    error instanceof EngineError &&
    /no command specified|unable to start container process|starting container process caused/i.test(message);
  return new StartError(`The bot could not be started: ${message}`, null, {
    kind: isCommand ? 'bot' : 'platform',
    cause: error,
  });
}

/** Creates the container. Pulls the image if the engine has lost it. */
async function createForInstance(
  context: InstanceStarterContext,
  spec: InstanceSpec,
  signal: AbortSignal,
): Promise<string> {
  const { engine, images, instances } = context;
  const prepared = parsePreparedImage(spec.prepared);
  // Only now: the values are secrets, which no other part keeps.
  const environment = { ...spec.instanceEnvironment?.(), ...(await spec.environment()) };
  signal.throwIfAborted();
  const create = () => createContainer(engine, context, spec, prepared.image, environment);
  try {
    return await create();
  } catch (error) {
    if (isEngineError(error, 409)) {
      await removeOwnUnstarted(context, spec.instanceId);
      return create();
    }
    if (!isEngineError(error, 404)) throw error;
    instances.noticed(spec.instanceId, 'pulling', `the image ${prepared.reference} is pulled again`);
    await images.pull(prepared, { credentials: spec.credentials, onProgress: () => undefined, signal });
    return create();
  }
}

/** Removes the container of a start whose response was lost. Throws if the name belongs to another container. */
async function removeOwnUnstarted({ engine, hostId }: InstanceStarterContext, instanceId: string): Promise<void> {
  const name = getContainerName(instanceId);
  const found = await readContainer(engine, name);
  const labels = found?.Config.Labels;
  if (found === null) return;
  if (labels?.[hostLabel] !== hostId || labels[instanceLabel] !== instanceId) {
    throw new StartError(
      `The name "${name}" belongs to a container that this service did not create. Rename it or remove it.`,
      null,
    );
  }
  await removeContainer(engine, found.Id, true);
}

/** Starts a container, and creates the network again if it was removed. */
async function startOnNetwork({ engine, hostId }: InstanceStarterContext, containerId: string): Promise<void> {
  try {
    await startContainer(engine, containerId);
  } catch (error) {
    const isNetworkMissing =
      error instanceof EngineError && error.message.includes(`network ${getNetworkName(hostId)} not found`);
    if (!isNetworkMissing) throw error;
    await ensureNetwork(engine, hostId);
    await startContainer(engine, containerId);
  }
}

/**
 * Waits until the bot is ready (docs/bot-contract.md, "Readiness"), then sets its CPU limit and records its address. The signal
 * `stop` stops the bot; the signal `leave` leaves it running.
 */
async function becomeReady(
  { engine, hostId, logger }: InstanceStarterContext,
  instance: Instance,
  stop: AbortSignal,
  leave: AbortSignal,
): Promise<InstanceAddress> {
  const known = instance.address();
  if (known !== null && instance.end() === null) return known;
  const waiting = new AbortController();
  const signal = AbortSignal.any([stop, leave, waiting.signal]);
  let state = notListening;
  const host = await Promise.race([
    waitUntilReady(
      () => readHost(engine, hostId, instance),
      signal,
      (next) => {
        state = next;
      },
    ).catch(() => null),
    instance.ended.then(() => null),
  ]);
  waiting.abort();
  const end = instance.end();
  if (end !== null) throw createExitError(end);
  if (host === null) {
    if (leave.aborted && !stop.aborted) throw new StartError('The service shut down before the bot was ready.', null);
    await instance.stop(0);
    const tail = instance.output.tail();
    throw new StartError(`The bot was stopped before it was ready: ${state}.`, null, { kind: 'bot', tail });
  }
  try {
    instance.becomeReady(host);
    await instance.limitCpu('running');
  } catch (error) {
    logger.warn({ instanceId: instance.instanceId, err: error }, 'CPU limit or readiness could not be recorded');
  }
  return { host, port: botPort };
}

async function readHost(engine: EngineClient, hostId: string, instance: Instance): Promise<string | null> {
  const container = await readContainer(engine, instance.record().containerId);
  const address = container?.NetworkSettings.Networks?.[getNetworkName(hostId)]?.IPAddress ?? '';
  return address === '' ? null : address;
}
