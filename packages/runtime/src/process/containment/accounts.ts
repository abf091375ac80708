import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  listReservedUids,
  readUidReservationOwner,
  releaseReservedUid,
  releaseUidsOfMissingOwners,
  tryReserveUid,
} from './reservations.ts';

/**
 * User and group id under which the service checks whether bots can run a program such as `node`. No instance gets this id,
 * because processes of one account can signal and trace each other. The id is the first of systemd's range for dynamic users
 * (systemd.exec(5)), in which distributions create no accounts.
 */
export const unixAccountIdForAccessChecks = 61184;
/** User ids for instances and builds: systemd's range for dynamic users (systemd.exec(5)), except its first id. */
export const minUnixAccountId = 61185;
export const maxUnixAccountId = 65519;

/** A range of user ids. `end` is the first id after the range. */
export type IdRange = { readonly first: number; readonly end: number };

const dynamicRange: IdRange = { first: minUnixAccountId, end: maxUnixAccountId + 1 };

/** Directory with one symbolic link per reserved user id, shared by all servers on the machine. Empty after a boot. */
export const systemUidReservationsDirectory = '/run/bothost-uids';

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
  await releaseUidsOfMissingOwners(reservationsDirectory);
  const second = reserveFirst(reservationsDirectory, owner, range, taken);
  if (second === null) throw new Error(`All user ids from ${range.first} to ${range.end - 1} are in use.`);
  return second;
}

/**
 * Releases user ids that a server reserved for instances in `instancesDirectory`, if the server was killed before it wrote the
 * user id to the record of the instance. `accountOf` takes the directory of an instance and returns the user id in its record,
 * or null if the record is missing or contains none. Do not call this function while a server starts instances in
 * `instancesDirectory`.
 */
export function releaseOrphanedUids(
  reservationsDirectory: string,
  instancesDirectory: string,
  accountOf: (owner: string) => number | null,
): void {
  for (const uid of listReservedUids(reservationsDirectory)) {
    const owner = readUidReservationOwner(reservationsDirectory, uid);
    if (owner === null || dirname(owner) !== instancesDirectory || accountOf(owner) === uid) continue;
    releaseReservedUid(reservationsDirectory, uid, owner);
  }
}

/** Returns the user ids that processes have or that servers have reserved for instances and builds. */
export function listUsedUids(reservationsDirectory: string): ReadonlySet<number> {
  return new Set([...uidsOfProcesses(), ...listReservedUids(reservationsDirectory)]);
}

/** The user id at which to begin the search for a free one: a hash of `name`, so that concurrent searches rarely collide. */
export function derivePreferredUnixAccountId(name: string, range: IdRange = dynamicRange): number {
  return range.first + (createHash('sha256').update(name).digest().readUInt32BE() % (range.end - range.first));
}

function reserveFirst(directory: string, owner: string, range: IdRange, taken: ReadonlySet<number>): number | null {
  const count = range.end - range.first;
  const preferred = derivePreferredUnixAccountId(owner, range) - range.first;
  for (let step = 0; step < count; step++) {
    const uid = range.first + ((preferred + step) % count);
    if (!taken.has(uid) && tryReserveUid(directory, uid, owner)) return uid;
  }
  return null;
}

/**
 * Milliseconds for which the result of a scan for the user ids of all processes is reused, because a scan of thousands of
 * processes takes milliseconds. An outdated result is sufficient: the scan only has to find user ids that other programs use,
 * because servers of this service reserve their user ids in a shared directory.
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
