import { statfs } from 'node:fs/promises';
import { formatBytes } from '@bothost/contract';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { InstallationSettings } from './installation.ts';

/** Compares the free space of the data directory with the reserve, below which the service starts no sessions and builds. */
export async function checkDisk({
  dataDirectory,
  diskReserveBytes,
}: Pick<InstallationSettings, 'dataDirectory' | 'diskReserveBytes'>): Promise<Finding> {
  const { bavail, bsize, files, ffree } = await statfs(dataDirectory);
  const freeBytes = bavail * bsize;
  const free = `${formatBytes(freeBytes)} are free in ${dataDirectory}`;
  const reserve = `the reserve (BOTHOST_DISK_RESERVE_MB) is ${formatBytes(diskReserveBytes)}`;
  const nextStep = 'Free disk space, or enlarge the disk.';
  if (freeBytes < diskReserveBytes)
    return failed(`${free}; ${reserve}, so the service starts no sessions and builds.`, nextStep);
  // Some file systems, such as btrfs, have no fixed number of files and report 0.
  if (files > 0 && ffree === 0) return failed(`No further file can be created in ${dataDirectory}.`, nextStep);
  return freeBytes < 2 * diskReserveBytes ? warning(`${free}; ${reserve}.`, nextStep) : ok(`${free}.`);
}
