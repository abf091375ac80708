import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type BotProjectSource, ProjectPreparationError } from '../../runtime.ts';
import type { DiskConsumer } from '../disk/disk-guard.ts';
import { createProjectOwnerDiskMonitor, type ProjectOwnerDiskMonitor } from '../disk/project-owner-disk-monitor.ts';
import { measureTrees } from '../disk/tree-sizes.ts';
import type { Instance } from '../instances/instance.ts';
import { createBuilderName } from './builder.ts';
import { getProjectOwner } from './owner.ts';
import { listProjectOwners, type ProjectStore, readProjects } from './project-store.ts';

const cacheStallMs = 60_000;

export type WatchedBuild = {
  readonly addDirectory: (path: string) => void;
  readonly signal: AbortSignal;
  readonly stop: () => void;
};

export type BuildDiskMonitor = {
  /** Starts to measure the disk use of a build. Only one build per project owner may be measured at a time. */
  readonly watch: (id: string, source: BotProjectSource) => Promise<WatchedBuild>;
  readonly consumers: () => readonly DiskConsumer[];
  readonly stored: ProjectOwnerDiskMonitor;
};

export type BuildDiskMonitorOptions = {
  readonly store: ProjectStore;
  readonly preparingDirectory: string;
  readonly limitBytes: number | null;
  readonly running: () => readonly Instance[];
};

export function createBuildDiskMonitor({
  store,
  preparingDirectory,
  limitBytes,
  running,
}: BuildDiskMonitorOptions): BuildDiskMonitor {
  const { projectsDirectory, environmentsDirectory, cachesDirectory } = store;
  const watched = new Map<string, DiskConsumer>();
  let count = 0;
  const stored = createProjectOwnerDiskMonitor({
    owners: () => listProjectOwners(store),
    directoriesOf: (owner) => {
      if (watched.has(owner)) return null;
      const projects = [...(readProjects(store).get(owner) ?? [])].map((id) => join(projectsDirectory, id));
      return [join(environmentsDirectory, owner), join(cachesDirectory, owner), ...projects];
    },
  });

  /** Returns the size of a cache in bytes. Deletes a cache above `limit` or that cannot be measured, and returns 0. */
  const trimCache = async (cache: string, limit: number, signal: AbortSignal): Promise<number> => {
    // Starting `du` delays the build, and an owner has no cache before its first build that downloads packages.
    if (!existsSync(cache)) return 0;
    const sizes = await measureTrees([{ id: cache, paths: [cache] }], { stallMs: cacheStallMs, signal });
    const bytes = sizes.get(cache);
    if (bytes !== undefined && bytes <= limit) return bytes;
    await store.removeTree(cache);
    return 0;
  };

  const watch = async (id: string, source: BotProjectSource): Promise<WatchedBuild> => {
    const overused = new AbortController();
    const { signal } = overused;
    if (limitBytes === null) return { addDirectory: () => undefined, signal, stop: () => undefined };
    const owner = getProjectOwner(source);
    const cache = join(cachesDirectory, owner);
    const foundBytes = await trimCache(cache, limitBytes, signal);
    const builder = createBuilderName(preparingDirectory, owner);
    const directories = [join(projectsDirectory, id), join(preparingDirectory, builder), cache];
    if (source.kind === 'build') directories.push(source.path);
    count++;
    watched.set(owner, {
      // Disk use is measured per id. The id contains the number of the attempt, so that each attempt at a build is measured
      // separately.
      id: `${id} (${count})`,
      kind: 'build',
      owner,
      limitBytes,
      foundBytes,
      directories: () => directories,
      pids: (table) =>
        running()
          .filter((instance) => instance.record().instanceId === builder && instance.end() === null)
          .flatMap((instance) => instance.containment.members(table).map(({ pid }) => pid)),
      end: (reason) => overused.abort(new ProjectPreparationError(reason)),
    });
    const stop = () => {
      watched.delete(owner);
      stored.changed(owner);
    };
    return { addDirectory: (path) => directories.push(path), signal, stop };
  };

  return { watch, consumers: () => [...watched.values()], stored };
}
