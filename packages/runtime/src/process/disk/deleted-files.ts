import { createTimeout } from '@bothost/contract';
import { runProgram } from '../../spawner.ts';

const timeoutMs = 5_000;
const blockBytes = 512;

export type InstanceOrBuildProcesses = { readonly id: string; readonly pids: readonly number[] };

/**
 * Returns, for each instance or build, the bytes of deleted files on a device that its processes hold open. `du` cannot see these
 * files. Instances and builds with few processes are searched first, so that one with thousands of files does not delay the
 * others. Empty if this account may not see the open files of bots.
 */
export async function measureDeletedFiles(
  processes: readonly InstanceOrBuildProcesses[],
  device: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const ordered = [...processes].sort((a, b) => a.pids.length - b.pids.length);
  const ids = new Map(ordered.flatMap(({ id, pids }) => pids.map((pid) => [`/proc/${pid}/fd`, id] as const)));
  if (ids.size === 0) return new Map();
  const tests = ['-maxdepth', '1', '-type', 'f', '-links', '0', '-printf', '%H %D %i %b\n'];
  const search = runProgram(['find', '-L', ...ids.keys(), ...tests], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    signal: AbortSignal.any([signal, createTimeout(timeoutMs)]),
  });
  // Ignore a failure of the search program, because processes end while it runs. Its output lists the files found so far.
  const { stdout } = await search.catch(() => ({ stdout: '' }));
  return sumDeletedFileSizes(stdout, ids, device);
}

/**
 * Adds up the sizes of files in the output of `find`, per instance or build. Each line describes one file by the directory in
 * which it was found, its device, its inode, and its number of blocks. `ids` maps each directory to the id of an instance or
 * build.
 */
export function sumDeletedFileSizes(
  output: string,
  ids: ReadonlyMap<string, string>,
  device: number,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const counted = new Set<string>();
  // Skip the last element: it is empty or, if `find` was killed, an incomplete line.
  for (const line of output.split('\n').slice(0, -1)) {
    const [, from, on, inode, blocks] = /^(\S+) (\d+) (\d+) (\d+)$/.exec(line) ?? [];
    const id = ids.get(from ?? '');
    if (id === undefined || Number(on) !== device || counted.has(`${inode}`)) continue;
    counted.add(`${inode}`);
    sums.set(id, (sums.get(id) ?? 0) + Number(blocks) * blockBytes);
  }
  return sums;
}
