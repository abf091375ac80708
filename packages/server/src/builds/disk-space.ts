import { statfs } from 'node:fs/promises';
import { failure } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { archiveBytes } from './upload-rows.ts';

/** Admission of whatever needs disk space. Running builds and instances are limited by the runtime. */
export type DiskSpace = {
  /** Whether less than the reserve of the service is free. */
  readonly isLow: () => Promise<boolean>;
  /** @throws failure `storage-full` if this many bytes more would use the reserve */
  readonly require: (bytes: number) => Promise<void>;
  /** @throws failure `storage-full`, or `organization-storage-full` if the organization would exceed its limit */
  readonly requireFor: (organizationId: string, bytes: number) => Promise<void>;
};

export type DiskSpaceOptions = {
  /** On the file system that is checked. */
  readonly directory: string;
  readonly reserveBytes: number;
  readonly organizationBytes: number;
  readonly db: Database;
  readonly runtime: Pick<Runtime, 'diskUsage'>;
};

export function createDiskSpace(options: DiskSpaceOptions): DiskSpace {
  const hasRoom = async (bytes: number): Promise<boolean> => {
    const { bavail, bsize } = await statfs(options.directory);
    return bavail * bsize - bytes >= options.reserveBytes;
  };
  const requireRoom = async (bytes: number): Promise<void> => {
    if (!(await hasRoom(bytes))) throw failure('storage-full');
  };
  return {
    isLow: async () => !(await hasRoom(0)),
    require: requireRoom,
    requireFor: async (organizationId, bytes) => {
      await requireRoom(bytes);
      const built = await options.runtime.diskUsage(organizationId);
      const uploaded = await archiveBytes(options.db, organizationId);
      if (built + uploaded + bytes > options.organizationBytes) throw failure('organization-storage-full');
    },
  };
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
