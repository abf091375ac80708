import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { DirectoryTreeRemover, RuntimeLogger } from '../../runtime.ts';
import { maxUnixAccountId, minUnixAccountId } from '../containment/accounts.ts';
import { createTraversableDirectory } from '../containment/isolation.ts';
import { runAndLogFailure } from '../run-and-log-failure.ts';
import { getPythonEnvironmentFiles } from './environment-files.ts';
import { type Project, readProject, removeProjectRecord } from './prepared-project.ts';

/** The directories `projects`, `environments` and `caches` of the data directory. */
export type ProjectStore = {
  readonly projectsDirectory: string;
  readonly environmentsDirectory: string;
  readonly cachesDirectory: string;
  readonly removeTree: DirectoryTreeRemover;
};

export function openProjectStore(dataDirectory: string, removeTree: DirectoryTreeRemover): ProjectStore {
  const store: ProjectStore = {
    projectsDirectory: join(dataDirectory, 'projects'),
    environmentsDirectory: join(dataDirectory, 'environments'),
    cachesDirectory: join(dataDirectory, 'caches'),
    removeTree,
  };
  for (const directory of [store.projectsDirectory, store.environmentsDirectory, store.cachesDirectory]) {
    createTraversableDirectory(directory);
  }
  return store;
}

/** Returns a complete project that bots can run, or null. `ownAccounts`: whether bots run under accounts of their own. */
export function findProject(store: ProjectStore, id: string, ownAccounts: boolean): Project | null {
  const project = readProject(store.projectsDirectory, id);
  if (project === null) return null;
  if (project.environment !== null && !hasPythonEnvironment(store, project)) return null;
  if (!ownAccounts) return { ...project, gid: null };
  // A project that was prepared while the service did not run as root belongs to the group of the service's account. Bots must
  // not run in that group. A group id outside the range for bots identifies such a project: treat it as not prepared.
  return project.gid !== null && project.gid >= minUnixAccountId && project.gid <= maxUnixAccountId ? project : null;
}

/** Records that a project is being prepared, so that the next server process deletes it if it is incomplete. */
export async function markProjectIncomplete(store: ProjectStore, id: string): Promise<string> {
  writeFileSync(beginningPath(store, id), '', { mode: 0o600 });
  await removeProject(store, id);
  return join(store.projectsDirectory, id);
}

export function markProjectComplete(store: ProjectStore, id: string): void {
  rmSync(beginningPath(store, id), { force: true });
}

/** Removes the record and renames the directory first, so that a partly removed project never looks complete. Idempotent. */
export async function removeProject(store: ProjectStore, id: string): Promise<void> {
  removeProjectRecord(store.projectsDirectory, id);
  const directory = join(store.projectsDirectory, id);
  const old = join(store.projectsDirectory, `.old-${id}`);
  await store.removeTree(old);
  // If the rename fails, the loop removes the directory under its original name.
  await rename(directory, old).catch(() => undefined);
  for (const path of [old, directory]) await store.removeTree(path);
}

export function hasPythonEnvironment(store: ProjectStore, project: Pick<Project, 'owner' | 'environment'>): boolean {
  return existsSync(getPythonEnvironmentFiles(store.environmentsDirectory, project).marker);
}

export function recordPythonEnvironmentUse(
  store: ProjectStore,
  project: Pick<Project, 'project' | 'owner' | 'environment'>,
): void {
  const { users } = getPythonEnvironmentFiles(store.environmentsDirectory, project);
  mkdirSync(users, { recursive: true, mode: 0o700 });
  writeFileSync(join(users, project.project), '');
}

export async function removeIncompletePythonEnvironment(
  store: ProjectStore,
  project: Pick<Project, 'owner' | 'environment'>,
): Promise<void> {
  const files = getPythonEnvironmentFiles(store.environmentsDirectory, project);
  if (!existsSync(files.marker)) await store.removeTree(files.directory);
}

/**
 * Removes environments that no project of the owner uses. If the owner has no projects left, also removes the owner's cache and
 * group. Idempotent. Do not call it while a project of the owner is being prepared.
 */
export async function removeUnusedPythonEnvironments(store: ProjectStore, owner: string): Promise<void> {
  await removeUnusedExcept(store, owner, readProjects(store).get(owner) ?? new Set());
}

async function removeUnusedExcept(store: ProjectStore, owner: string, projects: ReadonlySet<string>): Promise<void> {
  const directory = join(store.environmentsDirectory, owner);
  for (const environment of existsSync(directory) ? readdirSync(directory) : []) {
    const files = getPythonEnvironmentFiles(store.environmentsDirectory, { owner, environment });
    const users = existsSync(files.users) ? readdirSync(files.users) : [];
    for (const user of users) if (!projects.has(user)) rmSync(join(files.users, user));
    const isUsed = users.some((user) => projects.has(user));
    if (isUsed && existsSync(files.marker)) continue;
    rmSync(files.marker, { force: true });
    await store.removeTree(files.directory);
  }
  if (projects.size > 0) return;
  await store.removeTree(join(store.cachesDirectory, owner));
  await store.removeTree(directory);
}

/** Removes incomplete projects, and environments and caches without one. Call this before the first preparation. */
export async function cleanUpProjects(store: ProjectStore, logger: Pick<RuntimeLogger, 'error'>): Promise<void> {
  const removeUnfinished = async (name: string): Promise<void> => {
    const [, state, id = ''] = /^\.(begun|old|new)-(.+)$/.exec(name) ?? [];
    if (state === undefined) return;
    if (state === 'begun') {
      if (readProject(store.projectsDirectory, id) === null) await removeProject(store, id);
      markProjectComplete(store, id);
    } else {
      await store.removeTree(join(store.projectsDirectory, name));
    }
  };
  const names = readdirSync(store.projectsDirectory);
  await Promise.all(
    names.map((name) => runAndLogFailure(logger, join(store.projectsDirectory, name), () => removeUnfinished(name))),
  );
  const projects = readProjects(store);
  await Promise.all(
    listProjectOwners(store).map((owner) =>
      runAndLogFailure(logger, join(store.environmentsDirectory, owner), () =>
        removeUnusedExcept(store, owner, projects.get(owner) ?? new Set()),
      ),
    ),
  );
}

/** Owners with Python environments or caches: organizations, and served directories of this machine. */
export function listProjectOwners(store: ProjectStore): readonly string[] {
  return [...new Set([store.environmentsDirectory, store.cachesDirectory].flatMap((each) => readdirSync(each)))];
}

/** Returns the ids of all complete projects, by owner. */
export function readProjects(store: ProjectStore): ReadonlyMap<string, ReadonlySet<string>> {
  const projects = new Map<string, Set<string>>();
  for (const name of readdirSync(store.projectsDirectory)) {
    const id = /^([^.].*)\.json$/.exec(name)?.[1];
    const owner = id === undefined ? null : (readProject(store.projectsDirectory, id)?.owner ?? null);
    if (id === undefined || owner === null) continue;
    projects.set(owner, (projects.get(owner) ?? new Set()).add(id));
  }
  return projects;
}

function beginningPath(store: ProjectStore, id: string): string {
  return join(store.projectsDirectory, `.begun-${id}`);
}
