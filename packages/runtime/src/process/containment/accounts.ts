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
 * User and group id under which the service tries programs before it relies on them. Never given to an instance, because a
 * process can tamper with others of its account. The first id of systemd's range for dynamic users (systemd.exec(5)), in
 * which no distribution has accounts.
 */
export const TRIAL_ID = 61184;
/** Ids for instances and builds: the rest of that range. */
export const FIRST_ID = 61185;
export const LAST_ID = 65519;

/** `end` is the first id after the range. */
export type IdRange = { readonly first: number; readonly end: number };

const DYNAMIC_RANGE: IdRange = { first: FIRST_ID, end: LAST_ID + 1 };

/** One file per reserved user id, shared by all servers of a machine. Empty after a boot. */
export const RESERVATIONS_DIRECTORY = '/run/bothost-uids';

/**
 * Reserves a user id of the range that no live instance and no process of this machine has. `owner` is the instance's
 * directory, which must exist: a reservation without it is an orphan. Throws if all ids are taken.
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

/** Releases a user id if this owner still has it. */
export function releaseUid(reservationsDirectory: string, uid: number, owner: string): void {
  const path = join(reservationsDirectory, String(uid));
  if (readOwner(path) === owner) rmSync(path, { force: true });
}

/**
 * Releases ids that a killed server reserved for instances of this directory without recording or releasing them.
 * `accountOf` returns the recorded user id of the instance in a directory. Not while a server of the directory starts
 * instances.
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

/** The ids of all processes and reservations. */
export function usedUids(reservationsDirectory: string): ReadonlySet<number> {
  const reserved = existsSync(reservationsDirectory) ? readdirSync(reservationsDirectory).map(Number) : [];
  return new Set([...uidsOfProcesses(), ...reserved]);
}

/** The id at which the search begins, derived from the name so that searches rarely collide. */
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

/** One server at a time: the lock is an abstract Unix socket, which the kernel releases when its holder dies. */
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
