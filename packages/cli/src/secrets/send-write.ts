import { ConnectionError, isTransientError, type SecretWriteResult } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { findNetworkErrorCode } from '../connection/describe-failure.ts';

/** Sends a write. If no response arrives, prints that the write may or may not have been stored. */
export async function sendSecretWrite(
  { io, notify }: Pick<CommandContext, 'io' | 'notify'>,
  send: () => Promise<SecretWriteResult>,
): Promise<SecretWriteResult> {
  try {
    return await send();
  } catch (error) {
    const mayHaveArrived = !(error instanceof ConnectionError && findNetworkErrorCode(error) === 'ECONNREFUSED');
    if (io.signal.aborted || (isTransientError(error) && mayHaveArrived)) {
      notify(
        'No response arrived. The change was stored completely or not at all. It is safe to run the command again.',
      );
    }
    throw error;
  }
}
