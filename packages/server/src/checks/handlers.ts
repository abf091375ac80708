import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { checkInstallation } from './check-installation.ts';

export function createCheckHandlers(context: ServiceContext) {
  return {
    checkInstallation: async (_, { serviceUrl }) => {
      const checks = await checkInstallation(context);
      return { serviceUrl, now: context.now().toISOString(), checks };
    },
  } satisfies Partial<ApiOperationHandlers>;
}
