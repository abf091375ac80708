import type { CommandContext } from '../command-line/context.ts';

/** Runs an action. Ctrl-C prints `notice`, which says what happens next, for example that a build continues. */
export async function withInterruptNotice<T>(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
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
