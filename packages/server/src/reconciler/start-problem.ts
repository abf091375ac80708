import { startDeadlineSeconds } from '@bothost/contract';
import { StartError } from '@bothost/runtime';
import type { Problem } from '../agents/deployment.ts';
import { SecretsUnavailable } from '../secrets/pin.ts';

/**
 * Why an instance did not become ready, for its agent's owner. `lasting`: the same start would fail again, as the bot itself
 * or what its deployment is pinned to is the reason; otherwise only time or the operator can mend it.
 */
export function startProblem(error: unknown, timedOut: boolean): Problem & { readonly lasting: boolean } {
  const message = error instanceof Error ? error.message : String(error);
  const exit = error instanceof StartError ? error.exit : null;
  if (exit !== null) {
    return { code: exit.outOfMemory ? 'PCC_OUT_OF_MEMORY' : 'PCC_BOT_EXITED', message, exit, lasting: true };
  }
  if (error instanceof StartError && error.cause instanceof SecretsUnavailable) {
    const { message: reason, lasting } = error.cause;
    return { code: 'PCC_SECRETS_UNAVAILABLE', message: reason, exit, lasting };
  }
  if (timedOut) {
    const tail = error instanceof StartError ? error.tail : '';
    const stopped = { code: null, signal: null, outOfMemory: false, tail };
    const late = `${message} It had ${startDeadlineSeconds} seconds.`;
    return { code: 'PCC_BOT_START_TIMEOUT', message: late, exit: stopped, lasting: true };
  }
  return { code: 'PCC_UNKNOWN_ERROR', message, exit, lasting: false };
}
