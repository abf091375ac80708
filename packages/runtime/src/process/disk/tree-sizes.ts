import { runProgram } from '../../spawner.ts';

/** The directories of one instance or build, as absolute paths without line breaks. Missing ones count as empty. */
export type MeasuredTree = { readonly id: string; readonly paths: readonly string[] };

export type MeasureOptions = {
  /** Time limit in milliseconds for measuring one path. A tree that takes longer has no result. */
  readonly stallMs: number;
  readonly isBackground?: boolean;
  readonly signal: AbortSignal;
};

/** Memory limit of `du` in KiB: it keeps hard links and directory levels in memory, which counts as the service's. */
const memoryKibibytes = 1024 * 1024;

/**
 * Returns the allocated bytes of each tree, except trees that could not be measured. `du` walks relative to open
 * directories, does not block the event loop, follows no links, stays on one file system, counts each file once, and
 * handles any depth and name.
 */
export async function measureTrees(
  trees: readonly MeasuredTree[],
  options: MeasureOptions,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  let remaining = trees;
  while (remaining.length > 0 && !options.signal.aborted) {
    const { measured, stalledAt } = await runDu(remaining, options);
    for (const [id, bytes] of measured) sizes.set(id, bytes);
    if (stalledAt === null) break;
    remaining = remaining.slice(stalledAt + 1);
  }
  return sizes;
}

async function runDu(trees: readonly MeasuredTree[], { stallMs, isBackground, signal }: MeasureOptions) {
  const bytesByPath = new Map<string, number>();
  let lastPath: string | null = null;
  const du = ['du', '-s', '-x', '-P', '--block-size=1', '--', ...trees.flatMap(({ paths }) => paths)];
  const script = `ulimit -v ${memoryKibibytes}; exec "$@"`;
  const program = isBackground === true ? ['nice', '-n', '19', ...du] : du;
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  const run = runProgram(['sh', '-c', script, 'sh', ...program], { cwd: '/', env, stallMs, signal });
  const result = await run.catch(() => ({ signal: 'SIGKILL', stdout: '' }));
  // Skip the last element: it is empty or, if `du` was killed, an incomplete line.
  for (const line of result.stdout.split('\n').slice(0, -1)) {
    const [, bytes, path] = /^(\d+)\t(.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    bytesByPath.set(path, Number(bytes));
    lastPath = path;
  }
  // Exit status 1 is expected, because files disappear while `du` runs.
  const isComplete = result.signal === null;
  const stalledAt = isComplete ? null : firstIncomplete(trees, lastPath);
  const measured = trees
    .slice(0, stalledAt ?? trees.length)
    .map(({ id, paths }) => [id, paths.reduce((sum, path) => sum + (bytesByPath.get(path) ?? 0), 0)] as const);
  return { measured, stalledAt };
}

/**
 * Estimates at which tree `du` stalled, from the last path that `du` printed, and returns the index of this tree. The estimate
 * may be too low, because `du` prints nothing for missing paths: they look like paths that `du` did not complete.
 */
function firstIncomplete(trees: readonly MeasuredTree[], lastPath: string | null): number {
  const at = trees.findIndex(({ paths }) => lastPath !== null && paths.includes(lastPath));
  const isTreeComplete = trees[at]?.paths.at(-1) === lastPath;
  return at === -1 ? 0 : isTreeComplete ? Math.min(at + 1, trees.length - 1) : at;
}
