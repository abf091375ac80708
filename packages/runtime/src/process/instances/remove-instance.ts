import type { DirectoryTreeRemover } from '../../runtime.ts';
import { removeCgroups } from '../containment/cgroup.ts';
import { releaseReservedUid } from '../containment/reservations.ts';
import { type InstanceFiles, readInstanceRecord } from '../records/instance-record.ts';

export type RemovalContext = { readonly reservationsDirectory: string; readonly removeTree: DirectoryTreeRemover };

/** Removes an ended instance's control groups and files, then its account `uid` (the record may lack it). Idempotent. */
export async function removeInstance(
  { reservationsDirectory, removeTree }: RemovalContext,
  files: InstanceFiles,
  uid: number | null = null,
): Promise<void> {
  const record = readInstanceRecord(files);
  if (record?.cgroups != null) await removeCgroups(record.cgroups);
  const reserved = record?.account?.uid ?? uid;
  const isRemoved = await removeTree(files.directory);
  // Release the account last, because the next instance with this account must not be able to access the files of this
  // instance.
  if (isRemoved && reserved !== null) releaseReservedUid(reservationsDirectory, reserved, files.directory);
}
