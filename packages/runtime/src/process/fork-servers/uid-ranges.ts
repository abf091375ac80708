import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { usedUids } from '../containment/accounts.ts';

/**
 * Ranges of user ids for fork servers and their instances. They lie in the part of the 32-bit space that systemd leaves
 * unused (systemd.io/UIDS-GIDS): above the ranges for containers, and below those for foreign images and for negative
 * numbers.
 */
const FIRST_ID = 0x7000_0000;
const END_ID = 0x7ffe_0000;
/** User ids per range: one for the fork server and one for each instance that runs at the same time. */
export const RANGE_SIZE = 1024;
const RANGES = (END_ID - FIRST_ID) / RANGE_SIZE;

/**
 * Directory of reserved ranges, next to the directory of single reservations. Likewise shared by all servers of a
 * machine, and empty after a boot.
 */
export function rangesDirectory(reservationsDirectory: string): string {
  return `${reservationsDirectory}-ranges`;
}

/**
 * Reserves a range of user ids, none of which is used by a process, reserved for an instance, or delegated to a user of
 * this machine. `owner` is the directory of the fork server. Returns the first id.
 */
export function reserveRange(reservationsDirectory: string, owner: string): number {
  const directory = rangesDirectory(reservationsDirectory);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const used = new Set([...usedUids(reservationsDirectory)].map(rangeOf));
  const delegated = ['/etc/subuid', '/etc/subgid'].flatMap(readDelegations);
  const preferred = createHash('sha256').update(owner).digest().readUInt32BE() % RANGES;
  for (let step = 0; step < RANGES; step++) {
    const range = (preferred + step) % RANGES;
    const first = FIRST_ID + range * RANGE_SIZE;
    const isDelegated = delegated.some(({ start, count }) => start < first + RANGE_SIZE && first < start + count);
    if (!used.has(range) && !isDelegated && tryWrite(join(directory, String(first)), owner)) return first;
  }
  throw new Error('All ranges of user ids for fork servers are in use.');
}

/**
 * Releases a range if `owner` still has it reserved. Running instances keep their ids, and the range is not reserved
 * again until they end.
 */
export function releaseRange(reservationsDirectory: string, first: number, owner: string): void {
  const path = join(rangesDirectory(reservationsDirectory), String(first));
  if (readText(path) === owner) rmSync(path, { force: true });
}

/** Releases the ranges whose fork servers no longer exist. */
export function releaseOrphanedRanges(reservationsDirectory: string, isOrphan: (owner: string) => boolean): void {
  const directory = rangesDirectory(reservationsDirectory);
  for (const name of namesIn(directory)) {
    const owner = readText(join(directory, name));
    if (owner !== null && isOrphan(owner)) releaseRange(reservationsDirectory, Number(name), owner);
  }
}

/** Parses lines of subuid(5), `NAME:START:COUNT`. */
export function parseDelegations(text: string): readonly { readonly start: number; readonly count: number }[] {
  return text.split('\n').flatMap((line) => {
    const [, start, count] = /^[^:#]+:(\d+):(\d+)$/.exec(line.trim()) ?? [];
    return start === undefined || count === undefined ? [] : [{ start: Number(start), count: Number(count) }];
  });
}

function readDelegations(path: string) {
  return parseDelegations(readText(path) ?? '');
}

function rangeOf(uid: number): number {
  return Math.floor((uid - FIRST_ID) / RANGE_SIZE);
}

function tryWrite(path: string, text: string): boolean {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, text);
    closeSync(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
