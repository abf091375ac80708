import type { RuntimeLogger, SessionPriority } from '../../runtime.ts';
import type { Instance } from './instance.ts';

const openingMs = 5_000;

/** CPU limit of an instance until it is ready, and while its session opens. */
export function computeStartCpuLimitMillicores(profileMillicores: number): number {
  return Math.max(1000, profileMillicores);
}

export type SessionCpuPriority = SessionPriority & { readonly close: () => void };

/**
 * Raises the CPU priority of an instance once a session is dispatched to it, and its CPU limit only while the session opens.
 */
export function createSessionCpuPriority(
  instances: ReadonlyMap<string, Pick<Instance, 'record' | 'containment' | 'end'>>,
  logger: Pick<RuntimeLogger, 'warn'>,
): SessionCpuPriority {
  const openings = new Map<string, NodeJS.Timeout>();

  function limit(instanceId: string, millicoresOf: (profileMillicores: number) => number): void {
    const instance = instances.get(instanceId);
    if (instance === undefined || instance.end() !== null) return;
    try {
      instance.containment.limitCpu(millicoresOf(instance.record().limits.cpuMillicores), 'session');
    } catch (error) {
      logger.warn({ err: error, instanceId }, 'CPU limit could not be set');
    }
  }

  function sessionOpened(instanceId: string): void {
    clearTimeout(openings.get(instanceId));
    if (openings.delete(instanceId)) limit(instanceId, (profileMillicores) => profileMillicores);
  }

  return {
    sessionOpening: (instanceId) => {
      limit(instanceId, computeStartCpuLimitMillicores);
      clearTimeout(openings.get(instanceId));
      const timer = setTimeout(sessionOpened, openingMs, instanceId);
      timer.unref();
      openings.set(instanceId, timer);
    },
    sessionOpened,
    close: () => {
      for (const instanceId of openings.keys()) sessionOpened(instanceId);
    },
  };
}
