import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readDirectoryTree } from './directory-tree.ts';

/**
 * Returns the SHA-256 hash in hex of the project files that a runtime driver copies: names, kinds, contents, executable bits
 * and link targets, but no times or owners. Rejects with `ProjectPreparationError` in the same cases as `readDirectoryTree`.
 */
export async function hashDirectory(path: string): Promise<string> {
  const hash = createHash('sha256');
  const { entries } = await readDirectoryTree(path);
  for (const entry of entries) {
    if (entry.kind === 'directory') hash.update(`d\0${entry.path}\0`);
    else if (entry.kind === 'link') hash.update(`l\0${entry.path}\0${entry.target}\0`);
    else hash.update(`f\0${entry.path}\0${entry.executable ? 'x' : '-'}\0${await hashFile(join(path, entry.path))}`);
  }
  return hash.digest('hex');
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
