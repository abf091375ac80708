import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { deleteSessionConversation } from './delete.ts';
import { getSessionConversation } from './get.ts';

export function createConversationHandlers(context: ServiceContext) {
  return {
    getSessionConversation: ({ params, query }, caller, _, canceled) => {
      const waitOver = AbortSignal.any([canceled(), AbortSignal.timeout(query.wait * 1_000)]);
      return getSessionConversation(context, caller, params, query, waitOver);
    },
    deleteSessionConversation: ({ params }, caller) => deleteSessionConversation(context, caller, params),
  } satisfies Partial<ApiOperationHandlers>;
}
