import type { Context } from '../command-line/context.ts';

/** Runs an action that continues in the service, or that can be resumed, and prints `notice` if Ctrl-C interrupts it. */
export async function withInterruptNotice<T>(
  { io, messages }: Pick<Context, 'io' | 'messages'>,
  notice: string,
  action: () => Promise<T>,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (io.signal.aborted) messages.notify(notice);
    throw error;
  }
}
