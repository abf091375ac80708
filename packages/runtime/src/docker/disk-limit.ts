import { statSync } from 'node:fs';
import { formatBytes } from '@bothost/contract/format-bytes';
import type { ConversationFiles } from '../output/conversation-files.ts';
import type { RuntimeLogger } from '../runtime.ts';
import { listContainers, readVolumeSizes } from './containers.ts';
import type { EngineClient } from './engine-client.ts';
import type { Instance } from './instance.ts';
import { instanceLabel } from './labels.ts';

export type DiskMeter = {
  /** Measures the writable layers and volumes of all containers, and kills instances that exceed the limit. */
  readonly measure: () => Promise<void>;
  readonly usedBytes: (organizationId: string) => number;
};

export function createDiskMeter(options: {
  readonly engine: EngineClient;
  readonly hostId: string;
  readonly logger: RuntimeLogger;
  readonly instances: ReadonlyMap<string, Instance>;
  readonly conversationPaths: (instanceId: string) => ConversationFiles<string>;
  /** Null means no limit. */
  readonly limitBytes: number | null;
}): DiskMeter {
  const { engine, hostId, logger, instances, limitBytes } = options;
  let used: ReadonlyMap<string, number> = new Map();
  let volumeSizes: ReadonlyMap<string, number> = new Map();
  return {
    measure: async () => {
      if (instances.size === 0) {
        used = new Map();
        return;
      }
      const sums = new Map<string, number>();
      const containers = await listContainers(engine, hostId, true);
      // Images declare volumes rarely, and the engine measures all of its volumes.
      if (containers.some(({ Mounts }) => Mounts?.some(({ Type }) => Type === 'volume'))) {
        volumeSizes = await readVolumeSizes(engine).catch((error: unknown) => {
          // The engine refuses this while another client measures.
          logger.warn({ err: error }, 'volumes could not be measured');
          return volumeSizes;
        });
      }
      for (const { Labels, SizeRw, Mounts } of containers) {
        const instance = instances.get(Labels?.[instanceLabel] ?? '');
        if (instance === undefined) continue;
        const { organizationId } = instance.record();
        // The files of the conversation are not in the writable layer of the container.
        const files = Object.values(options.conversationPaths(instance.instanceId));
        const sizes = files.map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
        const volumes = Mounts?.map(({ Name }) => volumeSizes.get(Name ?? '') ?? 0) ?? [];
        const bytes = [...sizes, ...volumes].reduce((sum, size) => sum + size, SizeRw ?? 0);
        sums.set(organizationId, (sums.get(organizationId) ?? 0) + bytes);
        if (limitBytes === null || bytes <= limitBytes || instance.end() !== null) continue;
        logger.warn({ instanceId: instance.instanceId, bytes }, 'instance exceeds its disk limit');
        await instance.killForDisk(
          `Its files took ${formatBytes(bytes)} of disk space. The limit is ${formatBytes(limitBytes)}.`,
        );
      }
      used = sums;
    },
    usedBytes: (organizationId) => used.get(organizationId) ?? 0,
  };
}
