import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/**
 * Reserves a user id in a directory that all servers of the machine share. Returns false if the id is already reserved. A
 * reservation is a symbolic link to `owner`, which the kernel creates in one step, so a killed server leaves no incomplete
 * reservation. `owner` must exist, because a reservation is released once its owner does not exist.
 */
export function tryReserveUid(directory: string, id: number, owner: string): boolean {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    symlinkSync(owner, join(directory, String(id)));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Releases a user id if it is still reserved for `owner`. */
export function releaseReservedUid(directory: string, id: number, owner: string): void {
  if (readUidReservationOwner(directory, id) === owner) rmSync(join(directory, String(id)), { force: true });
}

export function listReservedUids(directory: string): readonly number[] {
  return existsSync(directory) ? readdirSync(directory).map(Number) : [];
}

export function readUidReservationOwner(directory: string, id: number): string | null {
  const path = join(directory, String(id));
  try {
    // Bothost 0.1 reserved a user id with a regular file that contains the owner, instead of a symbolic link.
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'utf8') || null;
  } catch {
    return null;
  }
}

/**
 * Releases the user ids reserved in `directory` whose owner, a path, no longer exists, for example because a data directory was
 * deleted. Does nothing while another server runs this function for the same `directory`. The lock is an abstract Unix socket,
 * which the kernel releases when the server dies.
 */
export async function releaseUidsOfMissingOwners(directory: string): Promise<void> {
  const lock = createServer();
  const lockName = createHash('sha256').update(directory).digest('hex');
  const isLocked = await new Promise<boolean>((resolve) => {
    lock.once('error', () => resolve(false));
    lock.listen({ path: `\0bothost-uids-${lockName}` }, () => resolve(true));
  });
  if (!isLocked) return;
  for (const id of listReservedUids(directory)) {
    const owner = readUidReservationOwner(directory, id);
    if (owner !== null && !existsSync(owner)) releaseReservedUid(directory, id, owner);
  }
  await new Promise((resolve) => lock.close(resolve));
}
