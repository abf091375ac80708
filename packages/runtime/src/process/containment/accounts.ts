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
 * The first of the user and group ids that systemd leaves to dynamic users (systemd.exec(5)), among which is no account of
 * a distribution. Nobody gets it: what is tried under it, the service believes and may run itself, and two programs of one
 * account can change each other.
 */
export const TRIAL_ID = 61184;
/** Those for instances and builds. */
export const FIRST_ID = 61185;
export const LAST_ID = 65519;

/** Where the service's servers of one machine agree on who uses which user id. Empty after a boot, as its ids are then. */
export const RESERVATIONS_DIRECTORY = '/run/bothost-uids';

/**
 * Takes a user id that no live instance and no process of this machine has. `owner` is the instance's directory, which
 * must exist already: a reservation whose owner is gone counts as left over. Throws when all are taken.
 */
export async function reserveUid(reservationsDirectory: string, owner: string): Promise<number> {
  mkdirSync(reservationsDirectory, { recursive: true, mode: 0o700 });
  const taken = uidsOfProcesses();
  const uid = tryReserve(reservationsDirectory, owner, taken);
  if (uid !== null) return uid;
  await dropLeftOver(reservationsDirectory);
  const second = tryReserve(reservationsDirectory, owner, taken);
  if (second === null) throw new Error(`all user ids from ${FIRST_ID} to ${LAST_ID} are in use`);
  return second;
}

/** Gives back what `reserveUid` took, when the reservation is still this owner's. */
export function releaseUid(reservationsDirectory: string, uid: number, owner: string): void {
  const path = join(reservationsDirectory, String(uid));
  if (readOwner(path) === owner) rmSync(path, { force: true });
}

/**
 * Gives back what a killed server had reserved for instances of this directory and not written down, or not given back.
 * `accountOf` says which user id the instance in a directory has. Not while a server of the directory starts instances.
 */
export function releaseForgotten(
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

/** Where to begin looking, so that names that differ rarely meet. */
export function preferredId(name: string): number {
  return FIRST_ID + (createHash('sha256').update(name).digest().readUInt32BE() % (LAST_ID - FIRST_ID + 1));
}

function tryReserve(directory: string, owner: string, taken: ReadonlySet<number>): number | null {
  const count = LAST_ID - FIRST_ID + 1;
  const first = preferredId(owner) - FIRST_ID;
  for (let step = 0; step < count; step++) {
    const uid = FIRST_ID + ((first + step) % count);
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

/** One server at a time: an abstract unix socket is a lock that the kernel lets go when its holder dies. */
async function dropLeftOver(directory: string): Promise<void> {
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
