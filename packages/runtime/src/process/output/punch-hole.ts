import { execFile } from 'node:child_process';

/**
 * Gives the blocks of a range of a file back to its disk; the rest keeps its place, whoever is writing to it. Node offers
 * no such call, so the `fallocate` of util-linux makes it. False where that is not there or the file system does not do it.
 */
export function punchHole(path: string, from: number, to: number, searchPath: string): Promise<boolean> {
  const range = ['--punch-hole', '--offset', String(from), '--length', String(to - from)];
  const options = { env: { PATH: `${searchPath}:/usr/bin:/bin` }, timeout: 10_000 };
  return new Promise((resolve) => {
    execFile('fallocate', [...range, path], options, (error) => resolve(error === null));
  });
}
