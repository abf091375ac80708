import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createKeyedQueue } from '../../keyed-queue.ts';
import {
  type BuildLimits,
  type BuildOutputHandler,
  type DiskLimits,
  ProjectPreparationTimeoutError,
  type RuntimeLogger,
} from '../../runtime.ts';
import { releaseOrphanedUids } from '../containment/accounts.ts';
import { createTraversableDirectory, unixAccountForAccessChecks } from '../containment/isolation.ts';
import { readInstances } from '../instances/adopt.ts';
import {
  type Instance,
  type LaunchedInstance,
  type OptionsForAllInstances,
  openInstance,
} from '../instances/instance.ts';
import { removeInstance } from '../instances/remove-instance.ts';
import { getInstanceFiles, readInstanceRecord } from '../records/instance-record.ts';
import { runAndLogFailure } from '../run-and-log-failure.ts';
import { type BuildDiskMonitor, createBuildDiskMonitor } from './build-disk.ts';
import { lockCache } from './download-cache.ts';
import { getProjectOwner } from './owner.ts';
import type { PreparationContext, ProjectSpec } from './preparation.ts';
import { prepareProject } from './prepare-project.ts';
import type { Project } from './prepared-project.ts';
import {
  cleanUpProjects,
  findProject,
  openProjectStore,
  type ProjectStore,
  removeProject,
  removeUnusedPythonEnvironments,
} from './project-store.ts';
import { createSingleFlight } from './single-flight.ts';
import { createUvFinder } from './uv.ts';

export type LocalProjectPreparer = {
  readonly store: ProjectStore;
  readonly prepare: (spec: ProjectSpec, output: BuildOutputHandler, signal: AbortSignal) => Promise<Project>;
  /** Removes a project, and the Python environments and download caches that only this project used. Idempotent. */
  readonly discard: (project: Project) => Promise<void>;
  /** Ends builds of a previous server process and removes incomplete projects. Call this before any other method. */
  readonly cleanUp: () => Promise<void>;
  readonly running: () => readonly Instance[];
  readonly disk: Pick<BuildDiskMonitor, 'consumers' | 'stored'>;
  /** Whether control groups of this name belong to a build. */
  readonly isKnown: (name: string) => boolean;
  readonly close: () => Promise<void>;
};

export type LocalProjectPreparerOptions = OptionsForAllInstances &
  Omit<PreparationContext, 'open' | 'store' | 'preparingDirectory' | 'uv' | 'limits' | 'passed'> & {
    readonly dataDirectory: string;
    readonly logger: RuntimeLogger;
    readonly building: BuildLimits;
    readonly disk: Pick<DiskLimits, 'buildBytes'> | null;
  };

/** Prepares projects: copies a project, and installs and builds what it needs under a separate account. */
export function createLocalProjectPreparer(options: LocalProjectPreparerOptions): LocalProjectPreparer {
  const { dataDirectory, isolation, building } = options;
  const store = openProjectStore(dataDirectory, options.removeTree);
  const preparingDirectory = join(dataDirectory, 'preparing');
  createTraversableDirectory(preparingDirectory);
  const closing = new AbortController();
  const enqueue = createKeyedQueue();
  const share = createSingleFlight<Project>();
  const busy = new Set<Promise<unknown>>();
  const running = new Set<Instance>();
  const disk = createBuildDiskMonitor({
    store,
    preparingDirectory,
    limitBytes: options.disk?.buildBytes ?? null,
    running: () => [...running],
  });
  const uv = createUvFinder({
    ...options,
    toolsDirectory: join(dataDirectory, 'tools'),
    installs: building.installsUv,
    passed: building.environment,
    account: isolation.ownAccounts ? unixAccountForAccessChecks : null,
    signal: closing.signal,
  });
  const context: PreparationContext = {
    ...options,
    limits: building,
    passed: building.environment,
    store,
    preparingDirectory,
    open: (launched) => openBuildProcess(options, launched, running),
    uv,
  };

  const prepareInTurn = async (
    spec: ProjectSpec,
    output: BuildOutputHandler,
    signal: AbortSignal,
  ): Promise<Project> => {
    const known = findProject(store, spec.id, isolation.ownAccounts);
    if (known !== null) return known;
    const owner = getProjectOwner(spec.source);
    const canceled = AbortSignal.any([signal, closing.signal]);
    const work = async () => {
      const timeout = startTimeout(building.timeoutMs);
      const watched = await disk.watch(spec.id, spec.source);
      try {
        const stopped = AbortSignal.any([canceled, timeout.signal, watched.signal]);
        const { addDirectory } = watched;
        return await prepareProject(context, spec, { owner, output, signal: stopped, addDirectory });
      } finally {
        watched.stop();
        timeout.clear();
      }
    };
    return enqueue(owner, work, { signal: canceled });
  };

  return {
    store,
    prepare: async (spec, output, signal) => {
      closing.signal.throwIfAborted();
      const work = share(spec.id, output, signal, (emit, shared) => prepareInTurn(spec, emit, shared));
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
        await removeUnusedPythonEnvironments(store, project.owner);
        disk.stored.changed(project.owner);
      }),
    cleanUp: async () => {
      await cleanUpBuilds(options, context);
      await cleanUpProjects(store, options.logger);
    },
    running: () => [...running],
    disk,
    isKnown: (name) => existsSync(join(preparingDirectory, name)),
    close: async () => {
      closing.abort(
        new Error('The preparation was canceled because the service is stopping. Prepare the project again.'),
      );
      await Promise.allSettled([...busy]);
    },
  };
}

/** Starts to watch a process of a build. The set `running` contains the process until it has ended. */
function openBuildProcess(
  options: LocalProjectPreparerOptions,
  launched: LaunchedInstance,
  running: Set<Instance>,
): Instance {
  const builder = launched.record.instanceId;
  const instance = openInstance({
    ...options,
    ...launched,
    onDropped: () => undefined,
    onEnded: () => undefined,
    onError: (error, message) => options.logger.error({ err: error, builder }, `build: ${message}`),
  });
  running.add(instance);
  void instance.ended.then(() => running.delete(instance));
  return instance;
}

function startTimeout(timeoutMs: number): { readonly signal: AbortSignal; readonly clear: () => void } {
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    const seconds = Math.round(timeoutMs / 1000);
    timeout.abort(
      new ProjectPreparationTimeoutError(
        `The preparation of the project exceeded ${seconds} seconds and was canceled.`,
      ),
    );
  }, timeoutMs);
  return { signal: timeout.signal, clear: () => clearTimeout(timer) };
}

/** Ends the builds of a previous server process, removes their files and accounts, and locks their caches. */
async function cleanUpBuilds(
  { isolation, reservationsDirectory, removeTree, bootId, logger, now }: LocalProjectPreparerOptions,
  { preparingDirectory, store, open }: PreparationContext,
): Promise<void> {
  if (isolation.ownAccounts) {
    const accountOf = (owner: string) =>
      readInstanceRecord(getInstanceFiles(preparingDirectory, basename(owner)))?.account?.uid ?? null;
    releaseOrphanedUids(reservationsDirectory, preparingDirectory, accountOf);
  }
  const earlier = await readInstances(preparingDirectory, { bootId, logger, now: now() });
  for (const found of earlier.instances) {
    await runAndLogFailure(logger, found.files.directory, async () => {
      const instance = open({ ...found, supervisorProgram: null });
      await instance.stop(0);
      await instance.close();
    });
  }
  await Promise.all(
    readdirSync(preparingDirectory).map((name) => {
      const files = getInstanceFiles(preparingDirectory, name);
      return runAndLogFailure(logger, files.directory, () =>
        removeInstance({ reservationsDirectory, removeTree }, files),
      );
    }),
  );
  for (const owner of readdirSync(store.cachesDirectory)) {
    await runAndLogFailure(logger, join(store.cachesDirectory, owner), () => lockCache(store.cachesDirectory, owner));
  }
}
