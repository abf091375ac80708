import { listExits } from './instance-end.ts';
import type { InstanceEvents } from './instance-events.ts';
import type { InstanceRecorder } from './instance-recorder.ts';
import type { InstanceStarts } from './instance-starts.ts';
import { createInstanceOutputs } from './output/instance-outputs.ts';
import type { SpoolClock } from './output/output-spool.ts';
import type { DirectoryTreeRemover, ObservedInstance, ResourceUsage, Runtime } from './runtime.ts';

type ContainerInstance = InstanceRecorder & {
  readonly instanceId: string;
  readonly observe: () => ObservedInstance;
  /** Reads from the platform whether the instance has ended. */
  readonly check: () => Promise<void>;
  readonly stop: (graceMs: number) => Promise<void>;
};

/** The methods that are equal for all drivers whose instances are containers. */
export function createContainerRuntime<Instance extends ContainerInstance>(driver: {
  readonly instances: {
    readonly byId: ReadonlyMap<string, Instance>;
    readonly events: Pick<InstanceEvents, 'watch'>;
  };
  readonly starter: InstanceStarts;
  /** Throws if the driver does not see the changes of instances. */
  readonly requireConnection: () => void;
  readonly readUsage: (running: readonly Instance[]) => Promise<void>;
  readonly closing: AbortSignal;
  readonly logDirectory: (instanceId: string) => string;
  readonly clock: SpoolClock;
  readonly removeTree: DirectoryTreeRemover;
}) {
  const { requireConnection } = driver;
  const { byId, events } = driver.instances;
  return {
    stop: async (instanceId, grace) => {
      await driver.starter.cancel(instanceId);
      await byId.get(instanceId)?.stop(grace);
    },
    list: async () => {
      requireConnection();
      return [...byId.values()].map((instance) => instance.observe());
    },
    inspect: async (instanceId) => {
      requireConnection();
      await byId.get(instanceId)?.check();
      return byId.get(instanceId)?.observe() ?? null;
    },
    watch: (signal) => events.watch(() => listExits(byId.values()), AbortSignal.any([signal, driver.closing])),
    sample: async (instanceIds) => {
      const known = instanceIds.flatMap((instanceId) => byId.get(instanceId) ?? []);
      await driver.readUsage(known.filter((instance) => !instance.hasEnded()));
      const usages = new Map<string, ResourceUsage>();
      for (const instance of known) {
        const usage = instance.usage();
        if (usage !== null) usages.set(instance.instanceId, usage);
      }
      return usages;
    },
    startMethods: () => new Map(),
    findReplaceable: () => new Set(),
    outputs: createInstanceOutputs({
      instances: byId,
      outputDirectory: driver.logDirectory,
      clock: driver.clock,
      removeTree: driver.removeTree,
    }),
  } satisfies Partial<Runtime>;
}
