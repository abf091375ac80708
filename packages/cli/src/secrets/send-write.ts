import { ConnectionError, isTransient, type WrittenSecrets } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { findNetworkErrorCode } from '../service/describe-failure.ts';

/** Sends a write. If no response arrives, prints that the write may or may not have been stored. */
export async function sendWrite(
  { io, notify }: Pick<Context, 'io' | 'notify'>,
  send: () => Promise<WrittenSecrets>,
): Promise<WrittenSecrets> {
  try {
    return await send();
  } catch (error) {
    const mayHaveArrived = !(error instanceof ConnectionError && findNetworkErrorCode(error) === 'ECONNREFUSED');
    if (io.signal.aborted || (isTransient(error) && mayHaveArrived)) {
      notify(
        'No response arrived. The change was stored completely or not at all. It is safe to run the command again.',
      );
    }
    throw error;
  }
}
