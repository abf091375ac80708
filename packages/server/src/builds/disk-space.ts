import { statfsSync } from 'node:fs';
import { createApiError } from '@bothost/contract';
import type { Runtime } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { sumArchiveBytes } from './upload-rows.ts';

/** Admission control: rejects uploads and builds while disk space is short. The runtime limits running ones. */
export type DiskSpaceGuard = {
  /** Whether the free disk space is below the service's reserve. */
  readonly isLow: () => boolean;
  /** Checks that writing this many bytes leaves the reserve free. @throws failure `storage-full` */
  readonly require: (bytes: number) => void;
  /**
   * Checks that writing this many bytes leaves the reserve free and does not exceed the disk limit of the organization.
   *
   * @throws failure `storage-full`, `organization-storage-full`
   */
  readonly requireFor: (organizationId: string, bytes: number) => Promise<void>;
};

export type DiskSpaceOptions = {
  /** Path of a directory on the file system whose free space is checked. */
  readonly directory: string;
  readonly reserveBytes: number;
  readonly organizationBytes: number;
  readonly db: Database;
  readonly runtime: Pick<Runtime, 'diskUsage'>;
};

export function createDiskSpaceGuard(options: DiskSpaceOptions): DiskSpaceGuard {
  const hasRoom = (bytes: number): boolean => {
    // An asynchronous call would wait for a thread of libuv's pool, whose threads may all be busy with slow file operations.
    const { bavail, bsize } = statfsSync(options.directory);
    return bavail * bsize - bytes >= options.reserveBytes;
  };
  const requireRoom = (bytes: number): void => {
    if (!hasRoom(bytes)) throw createApiError('storage-full');
  };
  return {
    isLow: () => !hasRoom(0),
    require: requireRoom,
    requireFor: async (organizationId, bytes) => {
      requireRoom(bytes);
      const built = await options.runtime.diskUsage(organizationId);
      const uploaded = await sumArchiveBytes(options.db, organizationId);
      if (built + uploaded + bytes > options.organizationBytes) throw createApiError('organization-storage-full');
    },
  };
}
