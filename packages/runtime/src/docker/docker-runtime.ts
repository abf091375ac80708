import { join } from 'node:path';
import { createContainerRuntime } from '../container-runtime.ts';
import { readConversationFile } from '../output/conversation-files.ts';
import { createSpoolClock } from '../output/output-spool.ts';
import { startPolling } from '../polling.ts';
import {
  type DirectoryTreeRemover,
  ProjectPreparationError,
  type Runtime,
  type RuntimeOptions,
  RuntimeUnavailableError,
  StartError,
} from '../runtime.ts';
import { createSessionCpu } from '../session-cpu.ts';
import { listContainers } from './containers.ts';
import { createDiskMeter } from './disk-limit.ts';
import { connectToEngine, type EngineClient } from './engine-client.ts';
import { watchEngineEvents } from './engine-events.ts';
import { infoSchema, versionSchema } from './engine-schemas.ts';
import { openImageRecords } from './image-records.ts';
import { createImages } from './images.ts';
import { openInstanceRecordStore } from './instance-record.ts';
import { createInstanceRegistry } from './instance-registry.ts';
import { createInstanceStarter } from './instance-starter.ts';
import { ensureNetwork, removeUnusedNetwork } from './network.ts';
import { type PreparedImage, parsePreparedImage } from './prepared-image.ts';

const diskIntervalMs = 10_000;
/** Number of measurements of disk space between two searches for unused images: one hour. */
const measurementsPerImageSearch = 360;
/** Requests for usage that are sent to the engine at once. */
const samplesAtOnce = 8;

export type DockerRuntimeOptions = RuntimeOptions & {
  /** Address of the engine, such as `unix:///var/run/docker.sock`. */
  readonly engine: string;
  readonly imageLimitBytes: number;
  /** Whether a reference may name an image that only the engine has. Every organization can use these images. */
  readonly allowsLocalImages: boolean;
  /** Maximum bytes of the files that an instance writes. Null means no limit. */
  readonly instanceDiskBytes: number | null;
  /** Linux capabilities of containers, such as `SETUID`. */
  readonly capabilities: readonly string[];
  /** `PATH` of the service, to run `perl`. */
  readonly path: string;
  readonly removeTree: DirectoryTreeRemover;
};

/**
 * Runs instances as containers of a Docker engine on this machine. They outlive the server, and the next server process adopts
 * them. Rejects with `RuntimeUnavailableError` if the engine cannot run bots.
 */
export async function createDockerRuntime(options: DockerRuntimeOptions): Promise<Runtime> {
  const { hostId, logger, now } = options;
  const engine = await connectToEngine(options.engine);
  try {
    await requireUsableEngine(engine);
    await ensureNetwork(engine, hostId);
  } catch (error) {
    await engine.close();
    throw error;
  }
  const directory = join(options.dataDirectory, 'docker');
  const files = openInstanceRecordStore(join(directory, 'instances'));
  const imageRecords = openImageRecords(join(directory, 'images'), now);
  const images = createImages({
    engine,
    limitBytes: options.imageLimitBytes,
    allowsLocal: options.allowsLocalImages,
  });
  const clock = createSpoolClock(now);
  const instances = createInstanceRegistry({ ...options, engine, files, clock });
  const events = await watchEngineEvents({
    engine,
    hostId,
    logger,
    onEvent: instances.handle,
    onConnected: instances.synchronize,
  });
  const starter = createInstanceStarter({
    ...options,
    engine,
    images,
    instances,
    files,
    conversationPaths: files.conversationPaths,
  });
  const sessionCpu = createSessionCpu(instances.byId, ({ limitCpu }, phase) => limitCpu(phase), logger);
  const disk = createDiskMeter({
    engine,
    hostId,
    logger,
    instances: instances.byId,
    conversationPaths: files.conversationPaths,
    limitBytes: options.instanceDiskBytes,
  });
  const stopPolling = startPolling({ pollMs: diskIntervalMs, logger }, [
    { polls: 1, run: async () => (events.isConnected() ? disk.measure() : undefined) },
    {
      polls: measurementsPerImageSearch,
      run: async () => {
        for (const image of imageRecords.findUnused()) if (await images.remove(image)) await imageRecords.remove(image);
      },
    },
  ]);
  const preparing = new Map<string, Promise<PreparedImage>>();
  const closing = new AbortController();
  const requireConnection = () => {
    if (!events.isConnected()) throw new Error('The Docker engine does not respond.');
  };

  return {
    ...createContainerRuntime({
      ...options,
      instances,
      starter,
      requireConnection,
      readUsage: async (running) => {
        for (let from = 0; from < running.length; from += samplesAtOnce)
          await Promise.all(running.slice(from, from + samplesAtOnce).map((instance) => instance.readUsage()));
      },
      closing: closing.signal,
      logDirectory: files.logDirectory,
      clock,
    }),
    prepare: async ({ id, source, credentials, onProgress }, output, signal) => {
      requireId(id, (message) => new ProjectPreparationError(message));
      if (source.kind !== 'image')
        throw new ProjectPreparationError('This region runs container images. Deploy an image instead of a project.');
      const known = preparing.get(id);
      if (known !== undefined) return known;
      const prepared = images
        .resolve(
          source.reference,
          {
            credentials,
            onProgress: onProgress ?? (() => undefined),
            signal: AbortSignal.any([signal, closing.signal]),
          },
          (image, isPresent) => {
            output(`Image ${image}`);
            // An image that the operator has pulled is not removed with the deployment.
            if (!isPresent || imageRecords.has(image)) imageRecords.add(id, image);
          },
        )
        .then((image) => ({ id, ...image }))
        .finally(() => preparing.delete(id));
      preparing.set(id, prepared);
      return prepared;
    },
    // The image is removed once no deployment has used it for a day, so that a rollback need not pull it.
    discard: async () => undefined,
    start: async (spec, signal, launched = () => undefined) => {
      requireId(spec.instanceId, (message) => new StartError(message, null));
      const { image } = parsePreparedImage(spec.prepared);
      // A rollback, or a change of settings, makes a deployment of an image that was pulled for an earlier one.
      if (imageRecords.has(image)) imageRecords.add(spec.deploymentId, image);
      return starter.start(spec, signal, launched);
    },
    isConnected: events.isConnected,
    isAddressCurrent: (instanceId) => (instances.byId.get(instanceId)?.address() ?? null) !== null,
    conversations: {
      read: async (instanceId, file, offset, maximumBytes) => {
        const record = instances.byId.get(instanceId)?.record();
        const identity = (file === 'lines' ? record?.conversation : record?.recording) ?? null;
        if (identity === null) return null;
        return readConversationFile(files.conversationPaths(instanceId)[file], identity, offset, maximumBytes);
      },
    },
    forget: async (instanceId) => {
      requireId(instanceId, (message) => new RangeError(message));
      await instances.forget(instanceId);
    },
    diskUsage: async (organizationId) => disk.usedBytes(organizationId),
    sessionOpening: sessionCpu.sessionOpening,
    sessionOpened: sessionCpu.sessionOpened,
    retain: async (deploymentIds) => imageRecords.retain(deploymentIds),
    close: async () => {
      stopPolling();
      closing.abort();
      sessionCpu.close();
      await starter.close();
      await events.close();
      await instances.close();
      const left = await listContainers(engine, hostId).catch(() => null);
      if (left?.length === 0) await removeUnusedNetwork(engine, hostId);
      await engine.close();
    },
  };
}

async function requireUsableEngine(engine: EngineClient): Promise<void> {
  const info = infoSchema.parse(await engine.call('GET', '/info'));
  const version = versionSchema.parse(await engine.call('GET', '/version'));
  const reason = info.OperatingSystem.includes('Docker Desktop')
    ? 'Docker Desktop runs containers in a virtual machine, whose network the service cannot reach'
    : version.Components?.some(({ Name }) => Name === 'Podman Engine')
      ? 'Podman does not offer all of the Docker Engine API'
      : info.SecurityOptions?.some((option) => option.includes('name=rootless'))
        ? 'a rootless engine has a network that the service cannot reach'
        : null;
  if (reason !== null) {
    throw new RuntimeUnavailableError(
      `BOTHOST_RUNTIME=docker needs a Docker Engine on Linux that runs as root: ${reason}.`,
    );
  }
}

/** Throws if an instance or deployment id cannot be the name of a directory and of a container. */
function requireId(id: string, toError: (message: string) => Error): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) throw toError(`"${id}" is not a valid id.`);
}
