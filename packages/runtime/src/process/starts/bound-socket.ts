import { chmodSync, chownSync, lstatSync } from 'node:fs';
import type { InstanceFiles, InstanceRecord } from '../records/instance-record.ts';

/**
 * Returns the path of the bot's Unix socket, or null until the bot has bound it. From then on, a bot with its own
 * account can no longer change the directory, so that it cannot replace the socket with a link to another program's
 * socket.
 */
export function findBoundSocket(
  files: InstanceFiles,
  record: Pick<InstanceRecord, 'socket' | 'account'>,
): string | null {
  const { socket, account } = record;
  if (socket === null || !isSocket(files.socket, null)) return null;
  if (account === null) return socket;
  chownSync(files.socketDirectory, process.geteuid?.() ?? 0, account.gid);
  chmodSync(files.socketDirectory, 0o710);
  return isSocket(files.socket, account.uid) ? socket : null;
}

function isSocket(path: string, uid: number | null): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isSocket() === true && (uid === null || stat.uid === uid);
}
