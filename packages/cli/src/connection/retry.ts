import { withRetries as retry } from '@bothost/contract';
import type { CommandIo } from '../io/io.ts';
import type { MessagePrinter } from '../output/message-printer.ts';

/** Repeats an idempotent request after transient errors, and shows in the status line that the service does not respond. */
export async function withRetries<T>(
  { io, messages }: { readonly io: Pick<CommandIo, 'sleep' | 'signal'>; readonly messages: MessagePrinter },
  request: () => Promise<T>,
): Promise<T> {
  let hasFailed = false;
  const answer = await retry(request, io.signal, (delayMs) => {
    hasFailed = true;
    messages.status('The service does not respond; retrying');
    return io.sleep(delayMs);
  });
  if (hasFailed) messages.status(null);
  return answer;
}
