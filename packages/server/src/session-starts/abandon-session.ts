import { ApiError } from '@bothost/contract';
import type { Logger } from 'pino';
import type { Reconciler } from '../reconciler/reconciler.ts';

type Context = { readonly reconciler: Pick<Reconciler, 'endSession'>; readonly logger: Pick<Logger, 'error'> };

/**
 * Ends a session whose start failed, unless the service refused the start. The transaction of the session may have been committed
 * although the database did not confirm it. The client does not know the session, so its bot must not run.
 */
export function abandonSession({ reconciler, logger }: Context, sessionId: string, failure: unknown): void {
  if (failure instanceof ApiError) return;
  reconciler.endSession(sessionId, 'HTTP_ERROR').catch((error: unknown) => {
    logger.error({ sessionId, err: error }, 'abandoned session could not be ended');
  });
}
