import { statSync } from 'node:fs';
import { formatBytes } from '@bothost/contract/format-bytes';
import type { ConversationFiles } from '../output/conversation-files.ts';
import type { RuntimeLogger } from '../runtime.ts';
import { listContainers } from './containers.ts';
import type { EngineClient } from './engine-client.ts';
import type { Instance } from './instance.ts';
import { instanceLabel } from './labels.ts';

export type DiskMeter = {
  /** Measures the writable layers of all containers, and kills instances whose layer exceeds the limit. */
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
  return {
    measure: async () => {
      if (instances.size === 0) {
        used = new Map();
        return;
      }
      const sums = new Map<string, number>();
      for (const { Labels, SizeRw } of await listContainers(engine, hostId, true)) {
        const instance = instances.get(Labels?.[instanceLabel] ?? '');
        if (instance === undefined) continue;
        const { organizationId } = instance.record();
        // The files of the conversation are not in the writable layer of the container.
        const files = Object.values(options.conversationPaths(instance.instanceId));
        const sizes = files.map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
        const bytes = sizes.reduce((sum, size) => sum + size, SizeRw ?? 0);
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
