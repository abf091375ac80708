import { releaseUid } from '../containment/accounts.ts';
import { removeCgroups } from '../containment/cgroup.ts';
import { removeTree } from '../remove-tree.ts';
import { type InstanceFiles, readRecord } from './instance-record.ts';

/** Removes all traces of an instance of which nothing runs: groups, then files, then its account. Idempotent. */
export async function removeInstance(files: InstanceFiles, reservationsDirectory: string): Promise<void> {
  const record = readRecord(files);
  if (record?.cgroups != null) removeCgroups(record.cgroups);
  await removeTree(files.directory);
  // Last: until the files are gone, nobody else may have the account that owns them.
  if (record?.account != null) releaseUid(reservationsDirectory, record.account.uid, files.directory);
}
