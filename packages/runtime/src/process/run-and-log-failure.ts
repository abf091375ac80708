import type { RuntimeLogger } from '../runtime.ts';

/** Runs start-up work for one entry. Logs a failure, so that a damaged entry cannot prevent the start of the service. */
export async function runAndLogFailure(
  logger: Pick<RuntimeLogger, 'error'>,
  path: string,
  work: () => Promise<void> | void,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    logger.error({ err: error, path }, 'unreadable entry of the data directory skipped at start-up');
  }
}
