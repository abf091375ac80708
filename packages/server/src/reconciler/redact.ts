import { StartError } from '@bothost/runtime';
import type { Logger } from 'pino';
import { readDeploymentSecrets } from '../agents/secret-pins.ts';
import { maskOutputTail } from '../logs/mask.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { StoreContext } from '../store/store-context.ts';

type Context = Pick<StoreContext, 'db' | 'retryWrite'> & {
  readonly keyring: Keyring;
  readonly logger: Pick<Logger, 'warn'>;
};

const withheld =
  '(not shown: some secret values that this bot was started with can no longer be decrypted, so they could not be masked)';

/**
 * Masks secret values in a bot's last output, which is stored with its session or deployment. If a value cannot be
 * decrypted, a notice replaces the output; if the values cannot be loaded, the output is empty. Never fails, because
 * the end of the bot must be recorded in any case.
 */
export async function redactOutputTail(context: Context, deploymentId: string, tail: string): Promise<string> {
  if (tail === '') return tail;
  try {
    const { values, isComplete } = await context.retryWrite(() => readDeploymentSecrets(context, deploymentId));
    return isComplete ? maskOutputTail(tail, values) : withheld;
  } catch (error) {
    context.logger.warn(
      { deploymentId, err: error },
      'last output of bot dropped because its secrets could not be loaded',
    );
    return '';
  }
}

/** Masks secret values in the output that the error of a failed start contains. */
export async function redactStartError(context: Context, deploymentId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof StartError) || error.tail === '') return error;
  const tail = await redactOutputTail(context, deploymentId, error.tail);
  const exit = error.exit === null ? null : { ...error.exit, tail };
  const { cause, kind, imageCode } = error;
  return new StartError(error.message, exit, { cause, tail, kind, imageCode });
}
