import { ConnectionError, type WrittenSecrets } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { networkCode } from '../service/describe-failure.ts';
import { isTransient } from '../service/retry.ts';

/** Sends a write that is no dry run. Where no answer came, it says what may have become of it. */
export async function sendWrite(
  { io, notify }: Pick<Context, 'io' | 'notify'>,
  send: () => Promise<WrittenSecrets>,
): Promise<WrittenSecrets> {
  try {
    return await send();
  } catch (error) {
    const arrived = !(error instanceof ConnectionError && networkCode(error) === 'ECONNREFUSED');
    if (io.signal.aborted || (isTransient(error) && arrived)) {
      notify('No answer came. The change was stored completely or not at all; it is safe to run this again.');
    }
    throw error;
  }
}
