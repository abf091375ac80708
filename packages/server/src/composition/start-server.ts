import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { OperatorError } from '../operator-error.ts';
import { getAcceptedSource } from './runtime-driver.ts';
import type { RunningServer } from './server.ts';
import { openServerStorage } from './server-storage.ts';
import { createTeardown } from './teardown.ts';

/** Starts the service, and tears it down if a step fails. See `composeServer` for `stopping`. */
export async function startServer(
  config: Config,
  logger: Logger,
  stopping: AbortSignal = new AbortController().signal,
): Promise<RunningServer> {
  if (getAcceptedSource(config.runtime) === 'image' && (config.agents ?? []).length > 0) {
    throw new OperatorError(
      'BOTHOST_AGENTS names directories, but this region runs images. Remove BOTHOST_AGENTS, and deploy an image: botcli cloud deploy AGENT IMAGE',
    );
  }
  const teardown = createTeardown(logger);
  try {
    // Import the service while the database starts.
    const importing = import('./server.ts');
    // A failure is reported below, when the storage has its steps of the teardown.
    importing.catch(() => undefined);
    const serverStorage = await openServerStorage(config, logger, teardown);
    const { composeServer } = await importing;
    return await composeServer(serverStorage, config, teardown, stopping);
  } catch (error) {
    await teardown.endFailedStart();
    throw error;
  }
}
