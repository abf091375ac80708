import type { Context } from '../context.ts';

/** Ends a session whose client was told that it failed, if it is there at all. */
export function abandon(context: Pick<Context, 'reconciler' | 'logger'>, sessionId: string): void {
  context.reconciler.finish(sessionId, 'HTTP_ERROR').catch((error: unknown) => {
    context.logger.error({ sessionId, err: error }, 'a session that may have been made could not be ended');
  });
}
