import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { createAlert, deleteAlert, listAlerts } from './alerts.ts';

export function createAlertHandlers(context: Pick<ServiceContext, 'db' | 'now' | 'newId'>) {
  return {
    listAlerts: async (_, caller) => ({ alerts: await listAlerts(context, caller) }),
    createAlert: ({ params, body }, caller) => createAlert(context, caller, params.agentName, body),
    deleteAlert: ({ params }, caller) => deleteAlert(context, caller, params.agentName, params.alertId),
  } satisfies Partial<ApiOperationHandlers>;
}
