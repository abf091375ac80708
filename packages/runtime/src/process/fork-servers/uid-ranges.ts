import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { listUsedUids } from '../containment/accounts.ts';
import {
  listReservedUids,
  readUidReservationOwner,
  releaseReservedUid,
  releaseUidsOfMissingOwners,
  tryReserveUid,
} from '../containment/reservations.ts';

/**
 * Ranges of user ids for fork servers and their instances. Systemd leaves this part of the 32-bit space unused
 * (systemd.io/UIDS-GIDS): it is above the ids for containers, and below the ids for foreign images and the ids that are
 * negative as signed numbers.
 */
const firstId = 0x7000_0000;
const endId = 0x7ffe_0000;
/** User ids per range: one for the fork server and one for each instance that runs at the same time. */
export const uidsPerRange = 1024;
const rangeCount = (endId - firstId) / uidsPerRange;

/** The directory of reserved ranges, next to that of reserved user ids. All servers share both; a boot empties them. */
export function getUidRangesDirectory(reservationsDirectory: string): string {
  return `${reservationsDirectory}-ranges`;
}

/**
 * Reserves a range of user ids, none of which is used by a process, reserved for an instance, or delegated to a user of
 * this machine. `owner` is the directory of the fork server. Returns the first id.
 */
export function reserveRange(reservationsDirectory: string, owner: string): number {
  const directory = getUidRangesDirectory(reservationsDirectory);
  const used = new Set([...listUsedUids(reservationsDirectory)].map(rangeOf));
  const delegated = ['/etc/subuid', '/etc/subgid'].flatMap(readDelegations);
  const preferred = createHash('sha256').update(owner).digest().readUInt32BE() % rangeCount;
  for (let step = 0; step < rangeCount; step++) {
    const range = (preferred + step) % rangeCount;
    const first = firstId + range * uidsPerRange;
    const isDelegated = delegated.some(({ start, count }) => start < first + uidsPerRange && first < start + count);
    if (!used.has(range) && !isDelegated && tryReserveUid(directory, first, owner)) return first;
  }
  throw new Error('All ranges of user ids for fork servers are in use.');
}

/** Releases a range of `owner`. No fork server can reserve it until running instances with its ids have ended. */
export function releaseRange(reservationsDirectory: string, first: number, owner: string): void {
  releaseReservedUid(getUidRangesDirectory(reservationsDirectory), first, owner);
}

/** Releases ranges whose data directory or fork server no longer exists. */
export async function releaseOrphanedRanges(
  reservationsDirectory: string,
  isOrphan: (owner: string) => boolean,
): Promise<void> {
  const directory = getUidRangesDirectory(reservationsDirectory);
  for (const first of listReservedUids(directory)) {
    const owner = readUidReservationOwner(directory, first);
    if (owner !== null && isOrphan(owner)) releaseReservedUid(directory, first, owner);
  }
  await releaseUidsOfMissingOwners(directory);
}

/** Parses lines of subuid(5), `NAME:START:COUNT`. */
export function parseSubuidRanges(text: string): readonly { readonly start: number; readonly count: number }[] {
  return text.split('\n').flatMap((line) => {
    const [, start, count] = /^[^:#]+:(\d+):(\d+)$/.exec(line.trim()) ?? [];
    return start === undefined || count === undefined ? [] : [{ start: Number(start), count: Number(count) }];
  });
}

function readDelegations(path: string) {
  try {
    return parseSubuidRanges(readFileSync(path, 'utf8'));
  } catch {
    return [];
  }
}

function rangeOf(uid: number): number {
  return Math.floor((uid - firstId) / uidsPerRange);
}
