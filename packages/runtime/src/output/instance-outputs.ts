import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { DirectoryTreeRemover, EpochMicroseconds, InstanceOutputStore, OutputFile } from '../runtime.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import { getOutputFiles, readOutputFileMetadata } from './output-files.ts';

const execute = promisify(execFile);

/** The output of one instance, which a driver records while the instance runs. */
export type RecordedOutput = {
  /** Records the output that the instance has written so far. */
  readonly poll: () => void;
  readonly describe: () => Promise<OutputFile | null>;
  /** `done` resolves after new output since `since`, or at the end of the output, or earlier. `stop` cancels the wait. */
  readonly changed: (since: EpochMicroseconds) => { readonly done: Promise<void>; readonly stop: () => void };
  readonly tail: () => string;
};

export function createInstanceOutputs(context: {
  readonly instances: ReadonlyMap<string, { readonly end: () => unknown; readonly output: RecordedOutput }>;
  /** Returns the directory that `release` moves. */
  readonly outputDirectory: (instanceId: string) => string;
  readonly clock: MonotonicClock;
  readonly removeTree: DirectoryTreeRemover;
}): InstanceOutputStore {
  const { instances } = context;
  return {
    mark: async () => {
      for (const instance of instances.values()) if (instance.end() === null) instance.output.poll();
      return context.clock.next();
    },
    find: async (instanceId) => (await instances.get(instanceId)?.output.describe()) ?? null,
    tail: (instanceId) => instances.get(instanceId)?.output.tail() ?? '',
    changed: async (instanceIds, since, signal) => {
      if (signal.aborted) return;
      const waits = instanceIds.flatMap((id) => instances.get(id)?.output.changed(since) ?? []);
      let stop = () => {};
      const aborted = new Promise<void>((resolve) => {
        const onAbort = () => resolve();
        signal.addEventListener('abort', onAbort, { once: true });
        stop = () => signal.removeEventListener('abort', onAbort);
      });
      await Promise.race([aborted, ...waits.map(({ done }) => done)]);
      stop();
      for (const wait of waits) wait.stop();
    },
    release: async (instanceId, directory) => {
      if (instances.get(instanceId)?.end() === null) throw new Error(`Instance ${instanceId} is still running.`);
      const recorded = context.outputDirectory(instanceId);
      await mkdir(dirname(directory), { recursive: true, mode: 0o700 });
      // Nothing to move: a previous server process was killed after it had moved the output.
      if (!existsSync(recorded)) return;
      await rename(recorded, directory).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EXDEV') throw error;
        return moveToOtherDisk(recorded, directory, context.removeTree);
      });
    },
    findReleased: (directory) => readOutputFileMetadata(getOutputFiles(directory), true),
  };
}

/** Copies with `cp` of coreutils, which preserves the holes of a sparse file. Node would fill them with zeros. */
async function moveToOtherDisk(from: string, to: string, removeTree: DirectoryTreeRemover): Promise<void> {
  if (!existsSync(to)) {
    const copy = `${to}.copy`;
    // Do not use `removeTree`, which may return while files are left; `cp` would then copy into the old directory.
    await rm(copy, { recursive: true, force: true });
    await execute('cp', ['-a', '--', from, copy], { env: { PATH: '/usr/bin:/bin' } }).catch(throwCopyError);
    await rename(copy, to);
  }
  await removeTree(from);
}

/** Throws ENOSPC if `cp` failed on a full disk or quota, so that callers retry. Without a locale, `cp` prints English. */
function throwCopyError(error: Error & { readonly stderr?: string }): never {
  if (!/No space left on device|Disk quota exceeded/.test(error.stderr ?? '')) throw error;
  throw Object.assign(new Error('No space left on device.', { cause: error }), { code: 'ENOSPC' });
}
