import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { RemoveTree, RuntimeLogger } from '../../runtime.ts';
import { isolateFailure } from '../isolate-failure.ts';
import { environmentFiles } from './environment-files.ts';
import { type Project, readProject, removeProjectRecord } from './prepared-project.ts';

/** What is kept of prepared projects: `projects`, `environments` and `caches` of the data directory. */
export type Kept = {
  readonly projectsDirectory: string;
  readonly environmentsDirectory: string;
  readonly cachesDirectory: string;
  readonly removeTree: RemoveTree;
};

/** Notes that a project is being made at its final place, so that a later server knows it for a half one. */
export async function beginProject(kept: Kept, id: string): Promise<string> {
  writeFileSync(beginning(kept, id), '', { mode: 0o600 });
  await removeProject(kept, id);
  return join(kept.projectsDirectory, id);
}

/** After its record was written. */
export function endProject(kept: Kept, id: string): void {
  rmSync(beginning(kept, id), { force: true });
}

/** Its record first, then renamed, so that a half removed project is never taken for a whole one. Idempotent. */
export async function removeProject(kept: Kept, id: string): Promise<void> {
  removeProjectRecord(kept.projectsDirectory, id);
  const directory = join(kept.projectsDirectory, id);
  const old = join(kept.projectsDirectory, `.old-${id}`);
  await kept.removeTree(old);
  // If it cannot be renamed, it is removed where it is.
  await rename(directory, old).catch(() => undefined);
  for (const path of [old, directory]) await kept.removeTree(path);
}

/** Whether an environment is whole. */
export function hasEnvironment(kept: Kept, project: Pick<Project, 'owner' | 'environment'>): boolean {
  return existsSync(environmentFiles(kept.environmentsDirectory, project).marker);
}

/** Notes that a project uses an environment. */
export function useEnvironment(kept: Kept, project: Pick<Project, 'project' | 'owner' | 'environment'>): void {
  const { users } = environmentFiles(kept.environmentsDirectory, project);
  mkdirSync(users, { recursive: true, mode: 0o700 });
  writeFileSync(join(users, project.project), '');
}

/** Removes an environment that is not whole; a whole one is left. */
export async function removeHalfEnvironment(
  kept: Kept,
  project: Pick<Project, 'owner' | 'environment'>,
): Promise<void> {
  const files = environmentFiles(kept.environmentsDirectory, project);
  if (!existsSync(files.marker)) await kept.removeTree(files.directory);
}

/**
 * Removes what no project of an owner uses any more: environments, and with the last project its cache and its group.
 * Idempotent; not while something of the owner is being prepared.
 */
export async function removeUnused(kept: Kept, owner: string): Promise<void> {
  await removeUnusedBut(kept, owner, readProjects(kept).get(owner) ?? new Set());
}

async function removeUnusedBut(kept: Kept, owner: string, projects: ReadonlySet<string>): Promise<void> {
  const directory = join(kept.environmentsDirectory, owner);
  for (const environment of existsSync(directory) ? readdirSync(directory) : []) {
    const files = environmentFiles(kept.environmentsDirectory, { owner, environment });
    const users = existsSync(files.users) ? readdirSync(files.users) : [];
    for (const user of users) if (!projects.has(user)) rmSync(join(files.users, user));
    const isUsed = users.some((user) => projects.has(user));
    if (isUsed && existsSync(files.marker)) continue;
    rmSync(files.marker, { force: true });
    await kept.removeTree(files.directory);
  }
  if (projects.size > 0) return;
  await kept.removeTree(join(kept.cachesDirectory, owner));
  await kept.removeTree(directory);
}

/**
 * Removes what a killed server left unfinished, and what nothing uses any more. Call it while no project is being prepared.
 * Logs what cannot be read, and continues with the rest.
 */
export async function cleanUpProjects(kept: Kept, logger: Pick<RuntimeLogger, 'error'>): Promise<void> {
  const removeUnfinished = async (name: string): Promise<void> => {
    const [, state, id = ''] = /^\.(begun|old|new)-(.+)$/.exec(name) ?? [];
    if (state === undefined) return;
    if (state === 'begun') {
      if (readProject(kept.projectsDirectory, id) === null) await removeProject(kept, id);
      endProject(kept, id);
    } else {
      await kept.removeTree(join(kept.projectsDirectory, name));
    }
  };
  const names = readdirSync(kept.projectsDirectory);
  await Promise.all(
    names.map((name) => isolateFailure(logger, join(kept.projectsDirectory, name), () => removeUnfinished(name))),
  );
  const owners = [kept.environmentsDirectory, kept.cachesDirectory].flatMap((directory) => readdirSync(directory));
  const projects = readProjects(kept);
  await Promise.all(
    [...new Set(owners)].map((owner) =>
      isolateFailure(logger, join(kept.environmentsDirectory, owner), () =>
        removeUnusedBut(kept, owner, projects.get(owner) ?? new Set()),
      ),
    ),
  );
}

/** The ids of all whole projects, by owner. */
function readProjects(kept: Kept): ReadonlyMap<string, ReadonlySet<string>> {
  const projects = new Map<string, Set<string>>();
  for (const name of readdirSync(kept.projectsDirectory)) {
    const id = /^([^.].*)\.json$/.exec(name)?.[1];
    const owner = id === undefined ? null : (readProject(kept.projectsDirectory, id)?.owner ?? null);
    if (id === undefined || owner === null) continue;
    projects.set(owner, (projects.get(owner) ?? new Set()).add(id));
  }
  return projects;
}

function beginning(kept: Kept, id: string): string {
  return join(kept.projectsDirectory, `.begun-${id}`);
}
