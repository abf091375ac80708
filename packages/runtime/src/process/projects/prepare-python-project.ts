import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unixAccountForAccessChecks } from '../containment/isolation.ts';
import type { Builder } from './builder.ts';
import { getPythonEnvironmentFiles, markPythonEnvironmentComplete } from './environment-files.ts';
import { type PreparationContext, type ProjectPreparation, runBuild } from './preparation.ts';
import type { Project } from './prepared-project.ts';
import { pythonMainFile } from './project-kind.ts';
import {
  hasPythonEnvironment,
  recordPythonEnvironmentUse,
  removeIncompletePythonEnvironment,
} from './project-store.ts';
import { computePythonEnvironmentHash, listEnvironmentSetupCommands } from './python-environment.ts';
import { findPython } from './python-interpreter.ts';
import { readPythonProject } from './python-project.ts';

/** Creates or reuses the Python environment, and compiles the project. Rejects with `ProjectPreparationError`. */
export async function preparePythonProject(
  context: PreparationContext,
  preparation: ProjectPreparation,
): Promise<Pick<Project, 'main' | 'environment'>> {
  const { directory, owner, output, gid, signal } = preparation;
  const account = context.isolation.ownAccounts ? unixAccountForAccessChecks : null;
  const shim = await context.shim();
  const project = readPythonProject(directory);
  for (const note of project.notes) output(note);
  const requirements = [
    { source: 'pyproject.toml', range: project.requiresPython },
    { source: 'the host shim', range: shim.requiresPython },
  ].filter(({ range }) => range !== '');
  const python = await findPython(requirements, context.path, account);
  const tools = { python, uv: await unlessAborted(context.uv(), signal) };
  const environment = computePythonEnvironmentHash(directory, preparation.id, project, tools, shim.requirements);
  const named = { project: preparation.id, owner, environment };
  const files = getPythonEnvironmentFiles(context.store.environmentsDirectory, named);
  await shim.compile(python);
  const exists = hasPythonEnvironment(context.store, named);
  output(`Python ${python.version} (${python.path})${exists ? ', with the environment of an earlier deployment' : ''}`);
  if (!exists) {
    await removeIncompletePythonEnvironment(context.store, named);
    preparation.addDirectory(files.directory);
    mkdirSync(files.environment, { recursive: true, mode: 0o750 });
    if (gid !== null) for (const path of [files.directory, files.environment]) chownSync(path, 0, gid);
    for (const path of [files.directory, files.environment]) chmodSync(path, 0o750);
  }
  try {
    await runBuild(context, preparation, null, exists ? [] : [files.environment], async (run, builder) => {
      if (!exists) {
        const paths = {
          environment: files.environment,
          project: directory,
          shimRequirements: writeRequirements(builder, shim.requirements),
          constraints: join(builder.home, 'constraints.txt'),
        };
        for (const command of listEnvironmentSetupCommands(project, tools, paths)) await run(command);
      }
      await run({
        title: 'compileall',
        // Ignore files that do not compile, for example because they are for another Python version.
        command: [
          '/bin/sh',
          '-c',
          '"$@" || exit 0',
          'sh',
          python.path,
          '-I',
          '-m',
          'compileall',
          '-q',
          '-x',
          'node_modules',
          directory,
        ],
        directory,
        variables: {},
      });
    });
    if (!exists) markPythonEnvironmentComplete(files, python);
    recordPythonEnvironmentUse(context.store, named);
  } catch (error) {
    await removeIncompletePythonEnvironment(context.store, named);
    throw error;
  }
  return { main: pythonMainFile, environment };
}

/** Settles like `work`, or rejects with the signal's reason after an abort. `work` continues after an abort. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => Promise.reject(signal.reason));
  try {
    return await Promise.race([work, aborted]);
  } finally {
    aborted.catch(() => undefined);
    settled.abort();
  }
}

function writeRequirements(builder: Builder, requirements: readonly string[]): string {
  const path = join(builder.inputs, 'shim-requirements.txt');
  writeFileSync(path, requirements.map((line) => `${line}\n`).join(''));
  chmodSync(path, 0o644);
  return path;
}
