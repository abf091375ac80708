import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { listAuditEntries } from './list.ts';
import { verifyAudit } from './verify.ts';

export function createAuditHandlers(context: Pick<ServiceContext, 'db'>) {
  return {
    listAuditEntries: ({ query }, caller) => listAuditEntries(context, caller, query),
    verifyAudit: (_, caller) => verifyAudit(context, caller),
  } satisfies Partial<ApiOperationHandlers>;
}
