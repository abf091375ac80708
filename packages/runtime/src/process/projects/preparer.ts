import { existsSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createKeyedQueue } from '../../keyed-queue.ts';
import { type BuildOutput, PrepareError, type PrepareSpec, PrepareTimeout, type RuntimeLogger } from '../../runtime.ts';
import { FIRST_ID, LAST_ID, releaseOrphanedUids } from '../containment/accounts.ts';
import { makePassable, TRIAL_ACCOUNT } from '../containment/isolation.ts';
import { readInstances } from '../instances/adopt.ts';
import type { Instance, InstanceOptions } from '../instances/instance.ts';
import { instanceFiles, readRecord } from '../instances/instance-record.ts';
import { removeInstance } from '../instances/remove-instance.ts';
import { isolateFailure } from '../isolate-failure.ts';
import { type BuildDisk, createBuildDisk } from './build-disk.ts';
import { copyProject } from './copy-project.ts';
import { lockCache } from './download-cache.ts';
import { ownerOf, takeGroup } from './owner.ts';
import type { Preparation, PreparationContext } from './preparation.ts';
import { prepareNodeProject } from './prepare-node-project.ts';
import { preparePythonProject } from './prepare-python-project.ts';
import { type Project, readProject, writeProject } from './prepared-project.ts';
import { detectKind } from './project-kind.ts';
import {
  beginProject,
  cleanUpProjects,
  endProject,
  hasEnvironment,
  type ProjectStore,
  removeProject,
  removeUnusedEnvironments,
} from './project-store.ts';
import { createSharedWork } from './shared-work.ts';
import { createUvFinder } from './uv.ts';

export type Preparer = {
  readonly store: ProjectStore;
  readonly prepare: (spec: PrepareSpec, output: BuildOutput, signal: AbortSignal) => Promise<Project>;
  /** Removes a project, and environments and caches that only this project used. Idempotent. */
  readonly discard: (project: Project) => Promise<void>;
  /** Ends builds of an earlier server and removes incomplete projects. Call it before any other method. */
  readonly cleanUp: () => Promise<void>;
  /** Returns the running commands of builds, for the watchdog. */
  readonly running: () => readonly Instance[];
  readonly disk: Pick<BuildDisk, 'consumers' | 'stored'>;
  /** Whether control groups of this name belong to a build. */
  readonly isKnown: (name: string) => boolean;
  /** Cancels all preparations and waits until they have ended. */
  readonly close: () => Promise<void>;
};

export type PreparerOptions = Omit<PreparationContext, 'open' | 'store' | 'preparingDirectory' | 'uv'> & {
  /** Whether to install uv if it is not in `path`. */
  readonly installsUv: boolean;
  readonly dataDirectory: string;
  readonly logger: RuntimeLogger;
  readonly timeoutMilliseconds: number;
  /** Maximum disk space of a build. Null means no limit. */
  readonly diskBytes: number | null;
  readonly open: (found: OpenedInstance) => Instance;
};

type OpenedInstance = Pick<InstanceOptions, 'files' | 'record' | 'supervisor' | 'child' | 'end'>;

/** Makes projects startable: copies them, and installs and builds what they need under a separate account. */
export function createPreparer(options: PreparerOptions): Preparer {
  const { dataDirectory, isolation, reservationsDirectory, removeTree, logger } = options;
  const store: ProjectStore = {
    projectsDirectory: join(dataDirectory, 'projects'),
    environmentsDirectory: join(dataDirectory, 'environments'),
    cachesDirectory: join(dataDirectory, 'caches'),
    removeTree,
  };
  const { projectsDirectory, environmentsDirectory, cachesDirectory } = store;
  const preparingDirectory = join(dataDirectory, 'preparing');
  for (const directory of [projectsDirectory, environmentsDirectory, cachesDirectory, preparingDirectory]) {
    makePassable(directory);
  }
  const closing = new AbortController();
  const enqueue = createKeyedQueue();
  const share = createSharedWork<Project>();
  const busy = new Set<Promise<unknown>>();
  const running = new Set<Instance>();
  const disk = createBuildDisk({
    store,
    preparingDirectory,
    limitBytes: options.diskBytes,
    running: () => [...running],
  });

  const open = (found: OpenedInstance): Instance => {
    const instance = options.open(found);
    running.add(instance);
    void instance.ended.then(() => running.delete(instance));
    return instance;
  };
  const uv = createUvFinder({
    ...options,
    toolsDirectory: join(dataDirectory, 'tools'),
    installs: options.installsUv,
    account: isolation.ownAccounts ? TRIAL_ACCOUNT : null,
    signal: closing.signal,
  });
  const context: PreparationContext = { ...options, store, preparingDirectory, open, uv };

  const findComplete = (id: string): Project | null => {
    const project = readProject(projectsDirectory, id);
    if (project === null) return null;
    if (project.environment !== null && !hasEnvironment(store, project)) return null;
    if (!isolation.ownAccounts) return { ...project, gid: null };
    // A group outside the range belongs to an ordinary user who ran the service before. Bots must not run in it.
    return project.gid !== null && project.gid >= FIRST_ID && project.gid <= LAST_ID ? project : null;
  };

  const prepare = async (
    spec: PrepareSpec,
    owner: string,
    { output, signal, addDirectory }: Pick<Preparation, 'output' | 'signal' | 'addDirectory'>,
  ) => {
    const { id, source } = spec;
    const known = findComplete(id);
    if (known !== null) return known;
    signal.throwIfAborted();
    if ((await stat(source.path).catch(() => null))?.isDirectory() !== true) {
      throw new PrepareError(`${source.path} is not a directory.`);
    }
    const gid = isolation.ownAccounts ? takeGroup(store.environmentsDirectory, projectsDirectory, owner) : null;
    const directory = await beginProject(store, id);
    try {
      await copyProject(source.path, directory, gid, output, signal);
      const { kind, because } = detectKind(directory);
      output(because);
      const preparation: Preparation = {
        id,
        owner,
        gid,
        directory,
        isServed: source.kind === 'directory',
        addDirectory,
        output,
        signal,
      };
      const result = await (kind === 'node'
        ? prepareNodeProject(context, preparation)
        : preparePythonProject(context, preparation));
      // Do not complete the project after an abort, because the caller would not learn about it and would never remove
      // it.
      signal.throwIfAborted();
      const project: Project = { project: id, kind, gid, owner, ...result };
      writeProject(projectsDirectory, project);
      endProject(store, id);
      return project;
    } catch (error) {
      await removeProject(store, id);
      endProject(store, id);
      throw error;
    }
  };

  /** Aborts a preparation after its timeout. */
  const prepareInTime = async (spec: PrepareSpec, output: BuildOutput, signal: AbortSignal): Promise<Project> => {
    const known = findComplete(spec.id);
    if (known !== null) return known;
    const owner = ownerOf(spec.source);
    const canceled = AbortSignal.any([signal, closing.signal]);
    const work = async () => {
      const timeout = new AbortController();
      const timer = setTimeout(() => {
        const seconds = Math.round(options.timeoutMilliseconds / 1000);
        timeout.abort(
          new PrepareTimeout(`The preparation of the project exceeded ${seconds} seconds and was canceled.`),
        );
      }, options.timeoutMilliseconds);
      const watched = await disk.watch(spec.id, spec.source);
      try {
        const stopped = AbortSignal.any([canceled, timeout.signal, watched.signal]);
        return await prepare(spec, owner, { output, signal: stopped, addDirectory: watched.addDirectory });
      } finally {
        watched.stop();
        clearTimeout(timer);
      }
    };
    return enqueue(owner, work, { signal: canceled });
  };

  return {
    store,
    prepare: async (spec, output, signal) => {
      closing.signal.throwIfAborted();
      const work = share(spec.id, output, signal, (emit, shared) => prepareInTime(spec, emit, shared));
      busy.add(work);
      try {
        return await work;
      } finally {
        busy.delete(work);
      }
    },
    discard: (project) =>
      enqueue(project.owner ?? '', async () => {
        await removeProject(store, project.project);
        if (project.owner === null) return;
        await removeUnusedEnvironments(store, project.owner);
        disk.stored.changed(project.owner);
      }),
    cleanUp: async () => {
      if (isolation.ownAccounts) {
        const accountOf = (owner: string) =>
          readRecord(instanceFiles(preparingDirectory, basename(owner)))?.account?.uid ?? null;
        releaseOrphanedUids(reservationsDirectory, preparingDirectory, accountOf);
      }
      const earlier = await readInstances(preparingDirectory, { ...options, now: options.now() });
      for (const found of earlier.instances) {
        await isolateFailure(logger, found.files.directory, async () => {
          const instance = open({ ...found, child: null });
          await instance.stop(0);
          await instance.close();
        });
      }
      await Promise.all(
        readdirSync(preparingDirectory).map((name) => {
          const files = instanceFiles(preparingDirectory, name);
          return isolateFailure(logger, files.directory, () => removeInstance(options, files));
        }),
      );
      for (const owner of readdirSync(cachesDirectory)) {
        await isolateFailure(logger, join(cachesDirectory, owner), () => lockCache(cachesDirectory, owner));
      }
      await cleanUpProjects(store, logger);
    },
    running: () => [...running],
    disk,
    isKnown: (name) => existsSync(join(preparingDirectory, name)),
    close: async () => {
      closing.abort(new Error('The preparation was canceled because the service is stopping. Start it again.'));
      await Promise.allSettled([...busy]);
    },
  };
}
