import { execFile } from 'node:child_process';

/**
 * Frees the blocks of a range of a file. Offsets do not change, and other processes may write at the same time. Uses
 * `fallocate` of util-linux, because Node lacks this system call. False if the program is missing or the file system
 * does not support holes.
 */
export function punchHole(path: string, from: number, to: number, searchPath: string): Promise<boolean> {
  const range = ['--punch-hole', '--offset', String(from), '--length', String(to - from)];
  const options = { env: { PATH: `${searchPath}:/usr/bin:/bin` }, timeout: 10_000 };
  return new Promise((resolve) => {
    execFile('fallocate', [...range, path], options, (error) => resolve(error === null));
  });
}
