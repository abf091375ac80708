import { totalmem } from 'node:os';
import { type DirectoryTreeRemover, type Runtime, RuntimeUnavailableError } from '@bothost/runtime';
import { runtimes } from '@bothost/runtime/registry';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { type ConversationFollowers, createConversationFollowers } from '../conversations/followers.ts';
import { createOutputStoringRuntime, storeOutput } from '../logs/store-output.ts';
import { OperatorError } from '../operator-error.ts';
import type { Teardown } from './teardown.ts';

/**
 * Opens the runtime driver of this region. The driver removes an instance's files only after its conversation and
 * its output are stored.
 *
 * @throws OperatorError if the driver cannot work on this machine
 */
export async function openRuntime(
  base: Pick<
    ServiceContext,
    'db' | 'now' | 'logger' | 'host' | 'retryWrite' | 'logsDirectory' | 'conversationsDirectory' | 'keyring'
  > & {
    readonly removeTree: DirectoryTreeRemover;
  },
  config: Config,
  dataDirectory: string,
  teardown: Pick<Teardown, 'add'>,
): Promise<{ readonly runtime: Runtime; readonly conversationFollowers: ConversationFollowers }> {
  const opening = openDriver(base, config, dataDirectory);
  const driver = await opening.catch((error: unknown) => {
    throw error instanceof RuntimeUnavailableError ? new OperatorError(error.message, { cause: error }) : error;
  });
  teardown.add(() => driver.close());
  const conversationFollowers = createConversationFollowers({ ...base, conversations: driver.conversations });
  teardown.add(() => conversationFollowers.close());
  const runtime = createOutputStoringRuntime(driver, async (instanceId) => {
    await conversationFollowers.finish(instanceId);
    await storeOutput({ ...base, runtime: driver }, instanceId);
  });
  return { runtime, conversationFollowers };
}

function openDriver(
  {
    host,
    logger,
    now,
    removeTree,
  }: Pick<ServiceContext, 'logger' | 'now' | 'host'> & {
    readonly removeTree: DirectoryTreeRemover;
  },
  config: Config,
  dataDirectory: string,
): Promise<Runtime> {
  const common = { dataDirectory, hostId: host.id, logger, now, removeTree, outputLimitBytes: config.logSessionBytes };
  const ofContainers = {
    ...common,
    allowsLocalImages: config.allowsLocalImages,
    instanceDiskBytes: config.instanceDiskBytes,
    capabilities: config.containerCapabilities,
    path: config.inherited.path,
  };
  if (config.runtime === 'docker')
    return runtimes.docker.open({ ...ofContainers, engine: config.dockerHost, imageLimitBytes: config.imageBytes });
  if (config.runtime === 'kubernetes') {
    return runtimes.kubernetes.open({
      ...ofContainers,
      kubeconfig: config.kubeconfig ?? null,
      apiServer: config.kubernetesApiServer,
      namespace: config.kubernetesNamespace ?? null,
      podTemplate: config.kubernetesPodTemplate ?? null,
      readsUsage: config.kubernetesUsage === 'kubelet',
    });
  }
  return runtimes.process.open({
    ...common,
    retainedMemoryBytes: config.forkServerMemoryBytes ?? totalmem() / 4,
    building: {
      memoryBytes: config.buildMemoryBytes,
      cpuMillicores: config.buildProcessors * 1000,
      timeoutMs: config.buildTimeoutSeconds * 1000,
      environment: config.secrets.buildVariables,
      installsUv: config.installsUv,
    },
    disk: {
      instanceBytes: config.instanceDiskBytes,
      buildBytes: config.buildDiskBytes,
      organizationBytes: config.organizationDiskBytes,
      reserveBytes: config.diskReserveBytes,
    },
    ...config.inherited,
  });
}
