import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../failure.ts';
import { fateOf, ownTrace, pidOf } from './process-trace.ts';

/** Who changes a project holds this: a link to nowhere, whose target says who. */
const lockPath = '.botcli/change.lock';

/** Beside the trace of the process, so that no two locks ever read the same. */
const nonce = /-[0-9a-f]{8}$/;

/**
 * Keeps others from changing a project until the answer is called. A lock of a dead process is none.
 *
 * @throws `Failure` project-busy, where another process holds it or may hold it; errors of the system
 */
export function lockProject(directory: string): () => void {
  const path = join(directory, lockPath);
  // A project of files alone, or a folder of another make: nobody changes it by a plan.
  if (lstatSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true) return () => undefined;
  try {
    const release = take(path, () => busy(directory));
    sweep(dirname(path));
    return release;
  } catch (error) {
    // Nor can they write the project who may not write this.
    if (isSystemError(error, 'EROFS', 'EACCES', 'EPERM')) return () => undefined;
    throw error;
  }
}

/** Throws the `Failure` that `lockProject` would, where another process holds the lock or may hold it. */
export function refuseLocked(directory: string): void {
  if (isLocked(directory)) throw busy(directory);
}

/** Whether some process changes the project, or may be changing it. */
export function isLocked(directory: string): boolean {
  const holder = read(join(directory, lockPath));
  return holder !== null && fateOf(holder.replace(nonce, '')) !== 'dead';
}

function take(path: string, refusal: () => Failure): () => void {
  const mine = `${ownTrace()}-${randomBytes(4).toString('hex')}`;
  for (;;) {
    if (put(path, mine)) return () => giveBack(path, mine);
    const theirs = read(path);
    // Given back meanwhile.
    if (theirs === null) continue;
    if (fateOf(theirs.replace(nonce, '')) !== 'dead') throw refusal();
    // Two may have seen the same dead one. Only one at a time removes its lock, and only while it is still there: who
    // comes second would otherwise remove the first one's.
    const done = take(`${path}-${createHash('sha256').update(theirs).digest('hex').slice(0, 12)}`, refusal);
    try {
      if (read(path) === theirs) rmSync(path, { force: true });
    } finally {
      done();
    }
  }
}

/** Somebody may have removed it by hand, as the hint says, and another may hold it since. */
function giveBack(path: string, mine: string): void {
  if (read(path) === mine) rmSync(path, { force: true });
}

/** Whether there was none. A link is made with its content in one step; a kill cannot leave an empty one. */
function put(path: string, content: string): boolean {
  try {
    symlinkSync(content, path);
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    if (!isSystemError(error, 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP')) throw error;
  }
  // A file system without links.
  try {
    writeFileSync(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw error;
  }
}

function read(path: string): string | null {
  try {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) return readlinkSync(path);
    return found.isFile() ? readFileSync(path, 'utf8') : '';
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Removes what those left who were killed while they removed a dead one's lock; who holds the lock may. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!/^change\.lock(-[0-9a-f]{12})+$/.test(name)) continue;
    const holder = read(join(folder, name));
    if (holder !== null && fateOf(holder.replace(nonce, '')) === 'dead') rmSync(join(folder, name), { force: true });
  }
}

function busy(directory: string): Failure {
  const holder = read(join(directory, lockPath))?.replace(nonce, '') ?? '';
  const fate = fateOf(holder);
  const who = fate === 'living' ? ` (process ${pidOf(holder)})` : '';
  const hint =
    fate === 'unknown'
      ? `It cannot be seen from here: it belongs to another container, another machine or an earlier boot. If it has ended, remove ${join(directory, lockPath)}.`
      : 'Run this again when it has ended.';
  const message = `Another botcli is changing ${directory}${who}. Nothing was changed.`;
  return new Failure('project-busy', message, hint);
}

function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
