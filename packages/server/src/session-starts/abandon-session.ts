import type { Logger } from 'pino';
import type { Reconciler } from '../reconciler/reconciler.ts';

type Context = { readonly reconciler: Pick<Reconciler, 'endSession'>; readonly logger: Pick<Logger, 'error'> };

/** Ends a session whose start request failed. The session may have been stored although the client got an error. */
export function abandonSession({ reconciler, logger }: Context, sessionId: string): void {
  reconciler.endSession(sessionId, 'HTTP_ERROR').catch((error: unknown) => {
    logger.error({ sessionId, err: error }, 'abandoned session could not be ended');
  });
}
