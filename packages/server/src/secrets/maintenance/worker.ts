import type { Logger } from 'pino';
import { type PollingLoop, startPollingLoop } from '../../concurrency/polling-loop.ts';
import { runTask, type TaskContext } from './run-task.ts';
import { listTasks, type TaskRow } from './task-rows.ts';

/** Long, because every poll of an idle service costs CPU, and only a server that was killed leaves a task unfinished. */
const intervalMs = 10_000;

/** Runs tasks when woken, and polls for failed and unfinished ones. `close` waits until the current batch is stored. */
export function startMaintenanceWorker(
  context: Omit<TaskContext, 'signal'> & { readonly logger: Pick<Logger, 'info' | 'warn'> },
): PollingLoop {
  const logFailure = (fields: { readonly task?: string }, error: unknown) =>
    context.logger.warn({ ...fields, err: error }, 'vault maintenance failed, retrying');

  /** Logs errors instead of throwing them, so that a failing task does not delay other tasks. */
  async function run(task: TaskRow, signal: AbortSignal): Promise<void> {
    const fields = { task: task.task };
    try {
      if (await runTask({ ...context, signal }, task)) context.logger.info(fields, 'vault maintenance finished');
    } catch (error) {
      if (!signal.aborted) logFailure(fields, error);
    }
  }

  return startPollingLoop(
    async (signal) => {
      for (const task of await listTasks(context.db, 'running')) if (!signal.aborted) await run(task, signal);
    },
    (error) => logFailure({}, error),
    intervalMs,
  );
}
