import type { CommandContext } from '../command-line/context.ts';

/**
 * Runs an action. If Ctrl-C interrupts it, prints `notice`, which says what happens next, for example that the service continues
 * a build.
 */
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
