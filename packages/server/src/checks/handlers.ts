import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { type ChecksContext, checkInstallation } from './check-installation.ts';

export function createCheckHandlers(context: ChecksContext) {
  return {
    checkInstallation: async (_, { serviceUrl }) => {
      const checks = await checkInstallation(context);
      return { serviceUrl, now: context.now().toISOString(), checks };
    },
  } satisfies Partial<ApiOperationHandlers>;
}
