import type { RemoveTree } from '../../runtime.ts';
import { releaseUid } from '../containment/accounts.ts';
import { removeCgroups } from '../containment/cgroup.ts';
import { type InstanceFiles, readRecord } from './instance-record.ts';

export type RemovalContext = { readonly reservationsDirectory: string; readonly removeTree: RemoveTree };

/**
 * Removes all traces of an instance of which nothing runs: groups, then files, then its account. `uid` is an account that
 * was reserved for it and may not be on record yet. Idempotent.
 */
export async function removeInstance(
  { reservationsDirectory, removeTree }: RemovalContext,
  files: InstanceFiles,
  uid: number | null = null,
): Promise<void> {
  const record = readRecord(files);
  if (record?.cgroups != null) removeCgroups(record.cgroups);
  const reserved = record?.account?.uid ?? uid;
  const isGone = await removeTree(files.directory);
  // Last: the next holder of the account must not be able to reach these files.
  if (isGone && reserved !== null) releaseUid(reservationsDirectory, reserved, files.directory);
}
