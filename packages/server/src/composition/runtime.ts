import { totalmem } from 'node:os';
import {
  type DirectoryTreeRemover,
  type Runtime,
  type RuntimeOptions,
  RuntimeUnavailableError,
} from '@bothost/runtime';
import { type RuntimeKind, runtimes } from '@bothost/runtime/registry';
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
  const { host, logger, now, removeTree } = base;
  const options = { dataDirectory, hostId: host.id, logger, now, removeTree, outputLimitBytes: config.logSessionBytes };
  const driver = await openDriver[config.runtime](options, config).catch((error: unknown) => {
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

const openDriver = {
  process: (options, config) =>
    runtimes.process.open({
      ...options,
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
    }),
  docker: (options, config) =>
    runtimes.docker.open({
      ...options,
      ...getContainerOptions(config),
      engine: config.dockerHost,
      imageLimitBytes: config.imageBytes,
    }),
  kubernetes: (options, config) =>
    runtimes.kubernetes.open({
      ...options,
      ...getContainerOptions(config),
      kubeconfig: config.kubeconfig ?? null,
      apiServer: config.kubernetesApiServer,
      namespace: config.kubernetesNamespace ?? null,
      podTemplate: config.kubernetesPodTemplate ?? null,
      readsUsage: config.kubernetesUsage === 'kubelet',
    }),
} satisfies Record<
  RuntimeKind,
  (options: RuntimeOptions & { readonly removeTree: DirectoryTreeRemover }, config: Config) => Promise<Runtime>
>;

function getContainerOptions(config: Config) {
  return {
    allowsLocalImages: config.allowsLocalImages,
    instanceDiskBytes: config.instanceDiskBytes,
    capabilities: config.containerCapabilities,
    path: config.inherited.path,
  };
}
