import { type RemoveTree, type Runtime, RuntimeUnavailable } from '@bothost/runtime';
import { runtimes } from '@bothost/runtime/registry';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { storeOutput, withStoredOutput } from '../logs/store-output.ts';
import { OperatorError } from '../operator-error.ts';
import type { Teardown } from './teardown.ts';

const megabyte = 1024 * 1024;

/**
 * Opens the runtime driver of this region. The driver removes an instance's files only after its output is stored.
 *
 * @throws OperatorError if the driver cannot work on this machine
 */
export async function openRuntime(
  base: Pick<Context, 'db' | 'now' | 'logger' | 'host' | 'retryWrite' | 'logsDirectory'> & {
    readonly removeTree: RemoveTree;
  },
  config: Config,
  dataDirectory: string,
  teardown: Pick<Teardown, 'add'>,
): Promise<Runtime> {
  const opening = runtimes.process({
    dataDirectory,
    logger: base.logger,
    now: base.now,
    removeTree: base.removeTree,
    outputLimitBytes: config.logSessionMegabytes * megabyte,
    forkServerMemoryBytes: config.forkServerMegabytes === undefined ? undefined : config.forkServerMegabytes * megabyte,
    building: {
      memoryBytes: config.buildMemoryMegabytes * megabyte,
      cpuMillicores: config.buildProcessors * 1000,
      timeoutMilliseconds: config.buildTimeoutSeconds * 1000,
      environment: config.secrets.buildVariables,
      installsUv: config.installsUv,
    },
    disk: {
      instanceBytes: config.instanceDiskMegabytes * megabyte,
      buildBytes: config.buildDiskMegabytes * megabyte,
      organizationBytes: config.organizationDiskMegabytes * megabyte,
      reserveBytes: config.diskReserveMegabytes * megabyte,
    },
    ...config.inherited,
  });
  const driver = await opening.catch((error: unknown) => {
    throw error instanceof RuntimeUnavailable ? new OperatorError(error.message, { cause: error }) : error;
  });
  teardown.add(() => driver.close());
  return withStoredOutput(driver, (instanceId) => storeOutput({ ...base, runtime: driver }, instanceId));
}
