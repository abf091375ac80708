import type { RuntimeLogger } from '../runtime.ts';

/** Runs a task and logs its failure instead of throwing it, so that one directory entry cannot stop a start-up. */
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
