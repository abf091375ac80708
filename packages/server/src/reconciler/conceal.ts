import { deploymentSecrets } from '../agents/deployment-secrets.ts';
import { maskTail } from '../logs/mask.ts';
import { StartError } from '../runtime/runtime.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';

type Context = {
  readonly db: Database;
  readonly keyring: Keyring;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
};

/** The last words of a bot as they may be stored and shown: what it prints may hold what it was given. */
export async function concealTail(context: Context, deploymentId: string, tail: string): Promise<string> {
  if (tail === '') return tail;
  return maskTail(tail, await context.persist(() => deploymentSecrets(context, deploymentId)));
}

/** Why an instance did not start, with such last words. */
export async function concealStart(context: Context, deploymentId: string, error: unknown): Promise<unknown> {
  if (!(error instanceof StartError) || error.tail === '') return error;
  const tail = await concealTail(context, deploymentId, error.tail);
  const exit = error.exit === null ? null : { ...error.exit, tail };
  return new StartError(error.message, exit, { cause: error.cause, tail });
}
