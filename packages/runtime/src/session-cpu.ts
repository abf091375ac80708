import type { RuntimeLogger, SessionPriority } from './runtime.ts';

const openingMs = 5_000;

/** A bot gets more CPU while it starts and while its session opens. */
export type CpuPhase = 'opening' | 'running';

const minOpeningMillicores = 1000;

export function computeCpuMillicores(profileMillicores: number, phase: CpuPhase): number {
  return phase === 'opening' ? Math.max(minOpeningMillicores, profileMillicores) : profileMillicores;
}

/** Raises the CPU limit of an instance while its session opens. The calls do not wait for `limitCpu`, and log its errors. */
export function createSessionCpu<Instance extends { readonly end: () => unknown }>(
  instances: ReadonlyMap<string, Instance>,
  limitCpu: (instance: Instance, phase: CpuPhase) => Promise<unknown>,
  logger: Pick<RuntimeLogger, 'warn'>,
): SessionPriority & { readonly close: () => void } {
  const openings = new Map<string, NodeJS.Timeout>();
  const limit = (instanceId: string, phase: CpuPhase) => {
    const instance = instances.get(instanceId);
    if (instance === undefined || instance.end() !== null) return;
    limitCpu(instance, phase).catch((error: unknown) => {
      if (instance.end() === null) logger.warn({ instanceId, err: error }, 'CPU limit could not be set');
    });
  };
  const sessionOpened = (instanceId: string) => {
    clearTimeout(openings.get(instanceId));
    if (openings.delete(instanceId)) limit(instanceId, 'running');
  };
  return {
    sessionOpening: (instanceId) => {
      clearTimeout(openings.get(instanceId));
      limit(instanceId, 'opening');
      openings.set(instanceId, setTimeout(sessionOpened, openingMs, instanceId).unref());
    },
    sessionOpened,
    close: () => {
      for (const instanceId of openings.keys()) sessionOpened(instanceId);
    },
  };
}
