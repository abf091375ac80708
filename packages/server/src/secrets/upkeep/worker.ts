import type { Logger } from 'pino';
import { listTasks, type TaskRow } from './rows.ts';
import { type WorkContext, workOn } from './work.ts';

export type UpkeepWorker = {
  /** Looks for work that was asked for, soon. */
  readonly kick: () => void;
  /** Ends when the piece that is going on is stored. */
  readonly close: () => Promise<void>;
};

const everyMilliseconds = 1_000;

/** Does the work on the vault that was asked for: when it is told of it, and each second what was left behind. */
export function startUpkeepWorker(
  context: Omit<WorkContext, 'signal'> & { readonly logger: Pick<Logger, 'info' | 'warn'> },
): UpkeepWorker {
  let running: Promise<void> | null = null;
  let again = false;
  const closing = new AbortController();

  async function look(): Promise<void> {
    do {
      again = false;
      try {
        for (const task of await listTasks(context.db, 'running')) {
          if (!closing.signal.aborted) await work(task);
        }
      } catch (error) {
        interrupted({}, error);
      }
    } while (again && !closing.signal.aborted);
    running = null;
  }

  /** What fails again and again holds nothing else up. */
  async function work(task: TaskRow): Promise<void> {
    const fields = { task: task.task };
    try {
      const isDone = await workOn({ ...context, signal: closing.signal }, task);
      if (isDone) context.logger.info(fields, 'work on the vault is done');
    } catch (error) {
      interrupted(fields, error);
    }
  }

  function interrupted(fields: { readonly task?: string }, error: unknown): void {
    if (closing.signal.aborted) return;
    context.logger.warn({ ...fields, err: error }, 'work on the vault was interrupted; it is tried again');
  }

  function kick(): void {
    again = true;
    if (!closing.signal.aborted) running ??= look();
  }

  const timer = setInterval(kick, everyMilliseconds);
  kick();
  return {
    kick,
    close: async () => {
      closing.abort();
      clearInterval(timer);
      await running;
    },
  };
}
