import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { getWebhookDelivery, listWebhookDeliveries, resendWebhookDelivery, testWebhook } from './deliveries.ts';
import { createWebhook, deleteWebhook, listWebhooks, rotateWebhookSecret, updateWebhook } from './webhooks.ts';

export function createWebhookHandlers(
  context: Pick<ServiceContext, 'db' | 'now' | 'newId' | 'keyring' | 'webhookHosts'>,
) {
  return {
    listWebhooks: async (_, caller) => ({ webhooks: await listWebhooks(context, caller) }),
    createWebhook: ({ body }, caller) => createWebhook(context, caller, body),
    updateWebhook: ({ params, body }, caller) => updateWebhook(context, caller, params.webhookId, body),
    rotateWebhookSecret: ({ params }, caller) => rotateWebhookSecret(context, caller, params.webhookId),
    deleteWebhook: ({ params }, caller) => deleteWebhook(context, caller, params.webhookId),
    testWebhook: ({ params }, caller) => testWebhook(context, caller, params.webhookId),
    listWebhookDeliveries: ({ params, query }, caller) =>
      listWebhookDeliveries(context, caller, params.webhookId, query),
    getWebhookDelivery: ({ params }, caller) => getWebhookDelivery(context, caller, params),
    resendWebhookDelivery: ({ params }, caller) => resendWebhookDelivery(context, caller, params),
  } satisfies Partial<ApiOperationHandlers>;
}
