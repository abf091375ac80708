import { withAnySignal } from '../concurrency/any-signal.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { deleteSessionConversation } from './delete.ts';
import { getSessionConversation } from './get.ts';

export function createConversationHandlers(
  context: Parameters<typeof getSessionConversation>[0] & Parameters<typeof deleteSessionConversation>[0],
) {
  return {
    getSessionConversation: ({ params, query }, caller, _, canceled) =>
      withAnySignal([canceled(), AbortSignal.timeout(query.wait * 1_000)], (waitOver) =>
        getSessionConversation(context, caller, params, query, waitOver),
      ),
    deleteSessionConversation: ({ params }, caller) => deleteSessionConversation(context, caller, params),
  } satisfies Partial<ApiOperationHandlers>;
}
