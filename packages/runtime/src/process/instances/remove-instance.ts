import type { RemoveTree } from '../../runtime.ts';
import { releaseUid } from '../containment/accounts.ts';
import { removeCgroups } from '../containment/cgroup.ts';
import { type InstanceFiles, readRecord } from './instance-record.ts';

export type RemovalContext = { readonly reservationsDirectory: string; readonly removeTree: RemoveTree };

/**
 * Removes the control groups, files and account of an instance that is not running, in this order. `uid` is an account
 * that was reserved for the instance and may not be in the record yet. Idempotent.
 */
export async function removeInstance(
  { reservationsDirectory, removeTree }: RemovalContext,
  files: InstanceFiles,
  uid: number | null = null,
): Promise<void> {
  const record = readRecord(files);
  if (record?.cgroups != null) removeCgroups(record.cgroups);
  const reserved = record?.account?.uid ?? uid;
  const isRemoved = await removeTree(files.directory);
  // Release the account last, because its next holder must not reach these files.
  if (isRemoved && reserved !== null) releaseUid(reservationsDirectory, reserved, files.directory);
}
