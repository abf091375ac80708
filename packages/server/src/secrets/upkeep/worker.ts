import type { Logger } from 'pino';
import { type PollingLoop, startPollingLoop } from '../../concurrency/polling-loop.ts';
import { listTasks, type TaskRow } from './task-rows.ts';
import { type WorkContext, workOn } from './work.ts';

/**
 * Does the work on the vault that was asked for: when it is told of it, and each second what was left behind. Closed, it ends
 * when the piece that is going on is stored.
 */
export function startUpkeepWorker(
  context: Omit<WorkContext, 'signal'> & { readonly logger: Pick<Logger, 'info' | 'warn'> },
): PollingLoop {
  const interrupted = (fields: { readonly task?: string }, error: unknown) =>
    context.logger.warn({ ...fields, err: error }, 'work on the vault was interrupted; trying again');

  /** What fails again and again holds nothing else up. */
  async function work(task: TaskRow, signal: AbortSignal): Promise<void> {
    const fields = { task: task.task };
    try {
      if (await workOn({ ...context, signal }, task)) context.logger.info(fields, 'work on the vault is done');
    } catch (error) {
      if (!signal.aborted) interrupted(fields, error);
    }
  }

  return startPollingLoop(
    async (signal) => {
      for (const task of await listTasks(context.db, 'running')) if (!signal.aborted) await work(task, signal);
    },
    (error) => interrupted({}, error),
  );
}
