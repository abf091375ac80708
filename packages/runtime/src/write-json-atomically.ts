import { closeSync, fstatSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';

/** Size of a memory page in bytes. The kernel writes up to one page without interruption. */
const pageBytes = 4096;

/**
 * Writes a value to a file as JSON, atomically: a reader sees the old or the new value, even if this process is killed. A value
 * that fits into a page is written in place. Renaming a new file over the old one can block the event loop for hundreds of
 * milliseconds while bots write to the disk (ext4(5), `auto_da_alloc`).
 */
export function writeJsonAtomically(path: string, value: unknown): void {
  const json = Buffer.from(JSON.stringify(value));
  const text = json.length > pageBytes ? json : Buffer.concat([json, Buffer.alloc(pageBytes - json.length, ' ')]);
  if (text.length === pageBytes && overwritePage(path, text)) return;
  const next = `${path}.next`;
  writeFileSync(next, text, { mode: 0o600 });
  renameSync(next, path);
}

/** Overwrites a file in place. Returns false, without writing, if the file does not exist or is longer than a memory page. */
function overwritePage(path: string, page: Buffer): boolean {
  let file: number | null = null;
  try {
    file = openSync(path, 'r+');
    if (fstatSync(file).size > pageBytes) return false;
    return writeSync(file, page, 0, pageBytes, 0) === pageBytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  } finally {
    if (file !== null) closeSync(file);
  }
}
