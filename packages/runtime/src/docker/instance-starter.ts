import { botPort } from '../bot-port.ts';
import { createCancelError, createInstanceStarts, type InstanceStarts, waitForBot } from '../instance-starts.ts';
import {
  type InstanceAddress,
  type InstanceSpec,
  ProjectPreparationError,
  type RuntimeLogger,
  StartError,
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
  readonly files: InstanceRecordStore;
};

export function createInstanceStarter(context: InstanceStarterContext): InstanceStarts {
  const { engine, instances } = context;

  const launch = async (spec: InstanceSpec, canceled: AbortSignal): Promise<Instance> => {
    const { instanceId } = spec;
    instances.launching.add(instanceId);
    try {
      const conversation = await context.files.create(instanceId);
      const containerId = await createForInstance(context, spec, canceled).catch(async (error: unknown) => {
        await context.files.remove(instanceId);
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
        context.files.write(instanceId, record);
        await startOnNetwork(context, containerId);
        return instances.add(instanceId, record);
      } catch (error) {
        // If the engine does not respond, `synchronize` removes the container once it does.
        await removeContainer(engine, containerId, true).catch((failure: unknown) => {
          context.logger.warn({ instanceId, err: failure }, 'container of failed start could not be removed');
        });
        await context.files.remove(instanceId);
        throw error;
      }
    } finally {
      instances.launching.delete(instanceId);
    }
  };

  return createInstanceStarts({
    find: (instanceId) => instances.byId.get(instanceId),
    launch: (spec, canceled, closing) => {
      const signal = AbortSignal.any([canceled, closing]);
      return launch(spec, signal).catch((error: unknown) => {
        throw toStartError(error, signal.aborted);
      });
    },
    becomeReady: async (_, instance, canceled, closing) => ({
      address: await becomeReady(context, instance, canceled, closing),
    }),
  });
}

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
    instances.events.noticed(spec.instanceId, 'pulling', `the image ${prepared.reference} is pulled again`);
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

/** Waits until the bot is ready, then sets its CPU limit and records its address. */
async function becomeReady(
  { engine, hostId, logger }: InstanceStarterContext,
  instance: Instance,
  canceled: AbortSignal,
  closing: AbortSignal,
): Promise<InstanceAddress> {
  const known = instance.address();
  if (known !== null && instance.end() === null) return known;
  const host = await waitForBot(instance, () => readHost(engine, hostId, instance), canceled, closing);
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
