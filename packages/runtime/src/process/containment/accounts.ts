import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

/**
 * User and group id under which the service tries out programs. An instance never gets this id, because a process can
 * tamper with other processes of its account. It is the first id of systemd's range for dynamic users
 * (systemd.exec(5)), in which no distribution has accounts.
 */
export const TRIAL_ID = 61184;
/** User ids for instances and builds: the rest of systemd's range for dynamic users. */
export const FIRST_ID = 61185;
export const LAST_ID = 65519;

/** `end` is the first id after the range. */
export type IdRange = { readonly first: number; readonly end: number };

const DYNAMIC_RANGE: IdRange = { first: FIRST_ID, end: LAST_ID + 1 };

/** Contains one file per reserved user id, shared by all servers of the machine. Empty after a boot. */
export const RESERVATIONS_DIRECTORY = '/run/bothost-uids';

/**
 * Reserves a user id that no live instance and no process of this machine has. `owner` is the instance's directory,
 * which must exist, because a reservation whose directory is missing is an orphan. Throws if all ids are taken.
 */
export async function reserveUid(
  reservationsDirectory: string,
  owner: string,
  range: IdRange = DYNAMIC_RANGE,
): Promise<number> {
  mkdirSync(reservationsDirectory, { recursive: true, mode: 0o700 });
  const taken = uidsOfProcesses();
  const uid = tryReserve(reservationsDirectory, owner, range, taken);
  if (uid !== null) return uid;
  await removeOrphanedReservations(reservationsDirectory);
  const second = tryReserve(reservationsDirectory, owner, range, taken);
  if (second === null) throw new Error(`All user ids from ${range.first} to ${range.end - 1} are in use.`);
  return second;
}

/** Releases a user id if `owner` still has it reserved. */
export function releaseUid(reservationsDirectory: string, uid: number, owner: string): void {
  const path = join(reservationsDirectory, String(uid));
  if (readOwner(path) === owner) rmSync(path, { force: true });
}

/**
 * Releases user ids that a killed server reserved for instances in this directory but neither recorded nor released.
 * `accountOf` returns the user id in the record of the instance in a directory. Do not call it while a server starts
 * instances in this directory.
 */
export function releaseOrphanedUids(
  reservationsDirectory: string,
  instancesDirectory: string,
  accountOf: (owner: string) => number | null,
): void {
  if (!existsSync(reservationsDirectory)) return;
  for (const name of readdirSync(reservationsDirectory)) {
    const owner = readOwner(join(reservationsDirectory, name));
    if (owner === null || dirname(owner) !== instancesDirectory || accountOf(owner) === Number(name)) continue;
    releaseUid(reservationsDirectory, Number(name), owner);
  }
}

/** The user ids of all processes and reservations. */
export function usedUids(reservationsDirectory: string): ReadonlySet<number> {
  const reserved = existsSync(reservationsDirectory) ? readdirSync(reservationsDirectory).map(Number) : [];
  return new Set([...uidsOfProcesses(), ...reserved]);
}

/**
 * The user id at which the search begins. It is derived from the name, so that concurrent searches rarely try the same
 * id.
 */
export function preferredId(name: string, range: IdRange = DYNAMIC_RANGE): number {
  return range.first + (createHash('sha256').update(name).digest().readUInt32BE() % (range.end - range.first));
}

function tryReserve(directory: string, owner: string, range: IdRange, taken: ReadonlySet<number>): number | null {
  const count = range.end - range.first;
  const preferred = preferredId(owner, range) - range.first;
  for (let step = 0; step < count; step++) {
    const uid = range.first + ((preferred + step) % count);
    if (taken.has(uid)) continue;
    try {
      const file = openSync(join(directory, String(uid)), 'wx', 0o600);
      writeSync(file, owner);
      closeSync(file);
      return uid;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return null;
}

/**
 * Only one server at a time may reserve ids. The lock is an abstract Unix socket, which the kernel releases when the
 * server that holds it dies.
 */
async function removeOrphanedReservations(directory: string): Promise<void> {
  const lock = createServer();
  const locked = await new Promise<boolean>((resolve) => {
    lock.once('error', () => resolve(false));
    lock.listen({ path: '\0bothost-uids' }, () => resolve(true));
  });
  if (!locked) return;
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const owner = readOwner(path);
    if (owner !== null && statSync(owner, { throwIfNoEntry: false }) === undefined) rmSync(path, { force: true });
  }
  await new Promise((resolve) => lock.close(resolve));
}

function readOwner(path: string): string | null {
  try {
    return readFileSync(path, 'utf8') || null;
  } catch {
    return null;
  }
}

function uidsOfProcesses(): ReadonlySet<number> {
  const uids = new Set<number>();
  for (const name of readdirSync('/proc')) {
    const owner = /^\d+$/.test(name) ? statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid : undefined;
    if (owner !== undefined) uids.add(owner);
  }
  return uids;
}
