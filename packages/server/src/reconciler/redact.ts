import { StartError } from '@bothost/runtime';
import type { Logger } from 'pino';
import { rememberedSecrets } from '../agents/remembered-secrets.ts';
import { tailFor } from '../logs/known-secrets.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';

type Context = {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly traceKey: Buffer;
  readonly logger: Pick<Logger, 'warn'>;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
};

/**
 * The last words of a bot as they may be stored and shown: what it prints may hold what it was given. None where that cannot
 * be looked up; it must not keep the end of the bot from being recorded.
 */
export async function redactTail(context: Context, deploymentId: string, tail: string): Promise<string> {
  if (tail === '') return tail;
  try {
    return tailFor(await context.persist(() => rememberedSecrets(context, deploymentId)), tail);
  } catch (error) {
    context.logger.warn(
      { deploymentId, err: error },
      'the last output of a bot is left out, as it may contain secrets',
    );
    return '';
  }
}

/** Why an instance did not start, with such last words. */
export async function redactStartError(context: Context, deploymentId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof StartError) || error.tail === '') return error;
  const tail = await redactTail(context, deploymentId, error.tail);
  const exit = error.exit === null ? null : { ...error.exit, tail };
  return new StartError(error.message, exit, { cause: error.cause, tail });
}
