import type { Context } from '../command-line/context.ts';

/** Does what the service goes on with by itself, or keeps; somebody who presses Ctrl-C meanwhile is told so. */
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
