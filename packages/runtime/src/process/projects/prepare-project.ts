import { stat } from 'node:fs/promises';
import { ProjectPreparationError } from '../../runtime.ts';
import { copyProject } from './copy-project.ts';
import { assignOwnerGroup } from './owner.ts';
import type { PreparationContext, ProjectPreparation, ProjectSpec } from './preparation.ts';
import { prepareNodeProject } from './prepare-node-project.ts';
import { preparePythonProject } from './prepare-python-project.ts';
import { type Project, writeProject } from './prepared-project.ts';
import { detectProjectKind } from './project-kind.ts';
import { findProject, markProjectComplete, markProjectIncomplete, removeProject } from './project-store.ts';

/** Copies a project to its final directory and installs it, unless it is prepared. Removes it after a failure. */
export async function prepareProject(
  context: PreparationContext,
  { id, source }: ProjectSpec,
  request: Pick<ProjectPreparation, 'owner' | 'output' | 'signal' | 'addDirectory'>,
): Promise<Project> {
  const { store } = context;
  const { ownAccounts } = context.isolation;
  const { owner, output, signal } = request;
  const known = findProject(store, id, ownAccounts);
  if (known !== null) return known;
  signal.throwIfAborted();
  if ((await stat(source.path).catch(() => null))?.isDirectory() !== true) {
    throw new ProjectPreparationError(`${source.path} is not a directory.`);
  }
  const gid = ownAccounts ? assignOwnerGroup(store.environmentsDirectory, store.projectsDirectory, owner) : null;
  const directory = await markProjectIncomplete(store, id);
  try {
    await copyProject(source.path, directory, gid, output, signal);
    const { kind, because } = detectProjectKind(directory);
    output(because);
    const preparation: ProjectPreparation = { ...request, id, gid, directory, isServed: source.kind === 'directory' };
    const result = await (kind === 'node'
      ? prepareNodeProject(context, preparation)
      : preparePythonProject(context, preparation));
    // Do not complete the project after an abort: the caller does not receive the project, so would never remove it.
    signal.throwIfAborted();
    const project: Project = { project: id, kind, gid, owner, ...result };
    writeProject(store.projectsDirectory, project);
    markProjectComplete(store, id);
    return project;
  } catch (error) {
    await removeProject(store, id);
    markProjectComplete(store, id);
    throw error;
  }
}
