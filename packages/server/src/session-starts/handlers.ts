import { createApiError } from '@bothost/contract';
import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { getDialinWebhook } from './dialin-webhook.ts';
import { startMemberSession, startSession } from './start-session.ts';

export function createSessionStartHandlers(
  context: Pick<ServiceContext, 'isDraining'> &
    Parameters<typeof startSession>[0] &
    Parameters<typeof getDialinWebhook>[0],
) {
  return {
    startSession: async ({ params, query, body }, caller, requestedAt) => {
      if (context.isDraining()) throw createApiError('shutting-down');
      return startSession(context, caller, params.agentName, {
        request: body ?? {},
        fields: query.fields,
        requestedAt,
      });
    },
    startMemberSession: async ({ params, body }, caller, requestedAt) => {
      if (context.isDraining()) throw createApiError('shutting-down');
      return startMemberSession(context, caller, params.agentName, { request: body ?? {}, requestedAt });
    },
    getDialinWebhook: ({ params }, caller) => getDialinWebhook(context, caller, params.agentName),
  } satisfies Partial<ApiOperationHandlers>;
}
