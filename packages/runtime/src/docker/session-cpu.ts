import type { RuntimeLogger, SessionPriority } from '../runtime.ts';
import type { CpuPhase } from './containers.ts';
import type { Instance } from './instance.ts';

const openingMs = 5_000;

/** Raises the CPU limit of an instance while its session opens. The engine applies it shortly after the calls. */
export function createSessionCpu(
  instances: ReadonlyMap<string, Pick<Instance, 'limitCpu' | 'end'>>,
  logger: Pick<RuntimeLogger, 'warn'>,
): SessionPriority & { readonly close: () => void } {
  const openings = new Map<string, NodeJS.Timeout>();
  const limit = (instanceId: string, phase: CpuPhase) => {
    const instance = instances.get(instanceId);
    if (instance === undefined || instance.end() !== null) return;
    instance.limitCpu(phase).catch((error: unknown) => {
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
