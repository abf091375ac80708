import { existsSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PrepareError, type PrepareSpec, PrepareTimeout, type RuntimeLogger } from '../../runtime.ts';
import { FIRST_ID, LAST_ID, releaseForgotten } from '../containment/accounts.ts';
import { makePassable } from '../containment/isolation.ts';
import { findInstances } from '../instances/adopt.ts';
import type { Instance, InstanceOptions } from '../instances/instance.ts';
import { instanceFiles, readRecord } from '../instances/instance-record.ts';
import { removeInstance } from '../instances/remove-instance.ts';
import { isolateFailure } from '../isolate-failure.ts';
import { lockCache } from './builder.ts';
import { copyProject } from './copy-project.ts';
import {
  beginProject,
  cleanUpProjects,
  endProject,
  hasEnvironment,
  type Kept,
  removeProject,
  removeUnused,
} from './kept-projects.ts';
import { createKeyedQueue } from './keyed-queue.ts';
import { makeNodeProject } from './make-node-project.ts';
import { makePythonProject } from './make-python-project.ts';
import type { Making, MakingContext } from './making.ts';
import { ownerOf, takeGroup } from './owner.ts';
import { type Project, readProject, writeProject } from './prepared-project.ts';
import { detectKind } from './project-kind.ts';
import { createSharedWork } from './shared-work.ts';

export type Preparer = {
  readonly kept: Kept;
  readonly prepare: (spec: PrepareSpec, output: (line: string) => void, signal: AbortSignal) => Promise<Project>;
  /** Removes a project and what it alone used. Idempotent. */
  readonly discard: (project: Project) => Promise<void>;
  /** Ends what an earlier server had begun and removes what is half made. Before anything else of the preparer. */
  readonly cleanUp: () => Promise<void>;
  /** What runs now, to be looked at as instances are. */
  readonly running: () => readonly Instance[];
  /** Whether control groups of this name are those of a build. */
  readonly isKnown: (name: string) => boolean;
  /** Gives up what is being prepared and waits for it. */
  readonly close: () => Promise<void>;
};

export type PreparerOptions = Omit<MakingContext, 'open' | 'kept' | 'preparingDirectory'> & {
  readonly dataDirectory: string;
  readonly logger: RuntimeLogger;
  readonly timeoutMilliseconds: number;
  readonly open: (found: OpenedInstance) => Instance;
};

type OpenedInstance = Pick<InstanceOptions, 'files' | 'record' | 'keeper' | 'child' | 'end'>;

/** Makes projects startable: copies them, and has an account of its own install and build what they need. */
export function createPreparer(options: PreparerOptions): Preparer {
  const { dataDirectory, isolation, reservationsDirectory, removeTree, logger } = options;
  const kept: Kept = {
    projectsDirectory: join(dataDirectory, 'projects'),
    environmentsDirectory: join(dataDirectory, 'environments'),
    cachesDirectory: join(dataDirectory, 'caches'),
    removeTree,
  };
  const { projectsDirectory, environmentsDirectory, cachesDirectory } = kept;
  const preparingDirectory = join(dataDirectory, 'preparing');
  for (const directory of [projectsDirectory, environmentsDirectory, cachesDirectory, preparingDirectory]) {
    makePassable(directory);
  }
  const closing = new AbortController();
  const enqueue = createKeyedQueue();
  const shared = createSharedWork<Project>();
  const busy = new Set<Promise<unknown>>();
  const running = new Set<Instance>();

  const open = (found: OpenedInstance): Instance => {
    const instance = options.open(found);
    running.add(instance);
    void instance.ended.then(() => running.delete(instance));
    return instance;
  };
  const context: MakingContext = { ...options, kept, preparingDirectory, open };

  const present = (id: string): Project | null => {
    const project = readProject(projectsDirectory, id);
    if (project === null) return null;
    if (project.environment !== null && !hasEnvironment(kept, project)) return null;
    if (!isolation.ownAccounts) return { ...project, gid: null };
    // A group outside the range is that of an ordinary user who ran the service here before: bots must not get it.
    return project.gid !== null && project.gid >= FIRST_ID && project.gid <= LAST_ID ? project : null;
  };

  const make = async (spec: PrepareSpec, owner: string, output: Making['output'], signal: AbortSignal) => {
    const { id, source } = spec;
    const known = present(id);
    if (known !== null) return known;
    signal.throwIfAborted();
    if ((await stat(source.path).catch(() => null))?.isDirectory() !== true) {
      throw new PrepareError(`${source.path} is not a directory.`);
    }
    const gid = isolation.ownAccounts ? takeGroup(kept.environmentsDirectory, projectsDirectory, owner) : null;
    const directory = await beginProject(kept, id);
    try {
      await copyProject(source.path, directory, gid, output, signal);
      const { kind, because } = detectKind(directory);
      output(because);
      const making: Making = { id, owner, gid, directory, isServed: source.kind === 'directory', output, signal };
      const made = await (kind === 'node' ? makeNodeProject(context, making) : makePythonProject(context, making));
      // The caller would not learn of the project, so it would never be removed.
      signal.throwIfAborted();
      const project: Project = { project: id, kind, gid, owner, ...made };
      writeProject(projectsDirectory, project);
      endProject(kept, id);
      return project;
    } catch (error) {
      await removeProject(kept, id);
      endProject(kept, id);
      throw error;
    }
  };

  /** Within the time that a preparation may take. */
  const makeInTime = async (spec: PrepareSpec, output: Making['output'], signal: AbortSignal): Promise<Project> => {
    const known = present(spec.id);
    if (known !== null) return known;
    const owner = ownerOf(spec.source);
    const given = AbortSignal.any([signal, closing.signal]);
    const work = async () => {
      const late = new AbortController();
      const timer = setTimeout(() => {
        const seconds = Math.round(options.timeoutMilliseconds / 1000);
        late.abort(new PrepareTimeout(`The project was not prepared within ${seconds} seconds and was cancelled.`));
      }, options.timeoutMilliseconds);
      try {
        return await make(spec, owner, output, AbortSignal.any([given, late.signal]));
      } finally {
        clearTimeout(timer);
      }
    };
    return enqueue(owner, work, given);
  };

  return {
    kept,
    prepare: async (spec, output, signal) => {
      closing.signal.throwIfAborted();
      const work = shared(spec.id, output, signal, (tell, given) => makeInTime(spec, tell, given));
      busy.add(work);
      try {
        return await work;
      } finally {
        busy.delete(work);
      }
    },
    discard: (project) =>
      enqueue(project.owner ?? '', async () => {
        await removeProject(kept, project.project);
        if (project.owner !== null) await removeUnused(kept, project.owner);
      }),
    cleanUp: async () => {
      if (isolation.ownAccounts) {
        const accountOf = (owner: string) =>
          readRecord(instanceFiles(preparingDirectory, basename(owner)))?.account?.uid ?? null;
        releaseForgotten(reservationsDirectory, preparingDirectory, accountOf);
      }
      const earlier = await findInstances(preparingDirectory, { ...options, now: options.now() });
      for (const found of earlier.found) {
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
      await cleanUpProjects(kept, logger);
    },
    running: () => [...running],
    isKnown: (name) => existsSync(join(preparingDirectory, name)),
    close: async () => {
      closing.abort(new Error('The service is stopping: the preparation was cancelled and can be started again.'));
      await Promise.allSettled([...busy]);
    },
  };
}
