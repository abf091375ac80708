import type { InstanceSpec, ResourceLimits } from '../src/runtime.ts';

export const defaultResourceLimits: ResourceLimits = { cpuMillicores: 1000, memoryBytes: 512 * 1024 * 1024 };

/** Returns the spec of an instance, with default limits and no environment variables. */
export function createTestInstanceSpec(
  fields: Pick<InstanceSpec, 'instanceId' | 'deploymentId' | 'prepared'> & Partial<InstanceSpec>,
): InstanceSpec {
  return {
    organizationId: 'acme',
    agentId: 'agent',
    limits: defaultResourceLimits,
    environment: async () => ({}),
    drainSeconds: 60,
    ...fields,
  };
}
