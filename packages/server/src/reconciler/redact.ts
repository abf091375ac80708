import { StartError } from '@bothost/runtime';
import type { Logger } from 'pino';
import { deploymentSecrets } from '../agents/deployment-secrets.ts';
import { maskTail } from '../logs/mask.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';

type Context = {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly logger: Pick<Logger, 'warn'>;
  readonly retryWrite: <T>(write: () => Promise<T>) => Promise<T>;
};

const withheld =
  '(not shown: some secret values that this bot was started with can no longer be decrypted, so they could not be masked)';

/**
 * Masks secret values in a bot's last output, which is stored with its session or deployment. It is withheld if a value
 * cannot be decrypted, and empty if the values cannot be read: the end of the bot must be recorded anyway.
 */
export async function redactTail(context: Context, deploymentId: string, tail: string): Promise<string> {
  if (tail === '') return tail;
  try {
    const { values, isComplete } = await context.retryWrite(() => deploymentSecrets(context, deploymentId));
    return isComplete ? maskTail(tail, values) : withheld;
  } catch (error) {
    context.logger.warn({ deploymentId, err: error }, 'last output of a bot dropped because its secrets are unknown');
    return '';
  }
}

/** The error of a failed start, with secret values masked in its output. */
export async function redactStartError(context: Context, deploymentId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof StartError) || error.tail === '') return error;
  const tail = await redactTail(context, deploymentId, error.tail);
  const exit = error.exit === null ? null : { ...error.exit, tail };
  return new StartError(error.message, exit, { cause: error.cause, tail });
}
