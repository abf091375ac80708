import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  listReservedIds,
  readReservationOwner,
  releaseOrphanedReservations,
  releaseReservation,
  tryReserve,
} from './reservations.ts';

/**
 * User and group id under which the service checks whether bots can run a program such as `node`. No instance gets this id,
 * because processes of one account can signal and trace each other. The id is the first of systemd's range for dynamic users
 * (systemd.exec(5)), in which distributions create no accounts.
 */
export const accessCheckAccountId = 61184;
/** User ids for instances and builds: systemd's range for dynamic users (systemd.exec(5)), except its first id. */
export const firstAccountId = 61185;
export const lastAccountId = 65519;

/** A range of user ids. `end` is the first id after the range. */
export type IdRange = { readonly first: number; readonly end: number };

const dynamicRange: IdRange = { first: firstAccountId, end: lastAccountId + 1 };

/** Directory with one symbolic link per reserved user id, shared by all servers on the machine. Empty after a boot. */
export const systemReservationsDirectory = '/run/bothost-uids';

/**
 * Reserves a user id that no live instance and no process on this machine uses. `owner` is the instance's directory. It must
 * exist, because other servers release a user id whose owner does not exist. Rejects if all ids of the range are in use.
 */
export async function reserveUid(
  reservationsDirectory: string,
  owner: string,
  range: IdRange = dynamicRange,
): Promise<number> {
  const taken = uidsOfProcesses();
  const uid = reserveFirst(reservationsDirectory, owner, range, taken);
  if (uid !== null) return uid;
  await releaseOrphanedReservations(reservationsDirectory);
  const second = reserveFirst(reservationsDirectory, owner, range, taken);
  if (second === null) throw new Error(`All user ids from ${range.first} to ${range.end - 1} are in use.`);
  return second;
}

/**
 * Releases user ids that a killed server reserved for instances in `instancesDirectory` but did not write to their records.
 * `accountOf` returns the user id in the record of the instance whose directory is `owner`, or null if there is none. Do not
 * call this while a server starts instances in `instancesDirectory`.
 */
export function releaseOrphanedUids(
  reservationsDirectory: string,
  instancesDirectory: string,
  accountOf: (owner: string) => number | null,
): void {
  for (const uid of listReservedIds(reservationsDirectory)) {
    const owner = readReservationOwner(reservationsDirectory, uid);
    if (owner === null || dirname(owner) !== instancesDirectory || accountOf(owner) === uid) continue;
    releaseReservation(reservationsDirectory, uid, owner);
  }
}

/** Returns the user ids of all processes and reservations. */
export function listUsedUids(reservationsDirectory: string): ReadonlySet<number> {
  return new Set([...uidsOfProcesses(), ...listReservedIds(reservationsDirectory)]);
}

/**
 * Returns the user id at which the search for a free id begins. It is a hash of `name`, so that concurrent searches rarely try
 * the same ids.
 */
export function derivePreferredAccountId(name: string, range: IdRange = dynamicRange): number {
  return range.first + (createHash('sha256').update(name).digest().readUInt32BE() % (range.end - range.first));
}

function reserveFirst(directory: string, owner: string, range: IdRange, taken: ReadonlySet<number>): number | null {
  const count = range.end - range.first;
  const preferred = derivePreferredAccountId(owner, range) - range.first;
  for (let step = 0; step < count; step++) {
    const uid = range.first + ((preferred + step) % count);
    if (!taken.has(uid) && tryReserve(directory, uid, owner)) return uid;
  }
  return null;
}

/**
 * Milliseconds for which the result of a scan of all processes is reused. With thousands of processes, a scan takes
 * milliseconds. The result may be outdated, but our own servers find each other's user ids through reservations, so the scan
 * only has to find ids that other programs use.
 */
const scanMs = 10_000;
let lastScan: { readonly at: number; readonly uids: ReadonlySet<number> } | null = null;

function uidsOfProcesses(): ReadonlySet<number> {
  const now = performance.now();
  if (lastScan === null || now - lastScan.at >= scanMs) lastScan = { at: now, uids: scanProcesses() };
  return lastScan.uids;
}

function scanProcesses(): ReadonlySet<number> {
  const uids = new Set<number>();
  for (const name of readdirSync('/proc')) {
    const owner = /^\d+$/.test(name) ? statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid : undefined;
    if (owner !== undefined) uids.add(owner);
  }
  return uids;
}
