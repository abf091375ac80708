import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TRIAL_ACCOUNT } from '../containment/isolation.ts';
import type { Builder } from './builder.ts';
import { environmentFiles, writeMarker } from './environment-files.ts';
import { programsNamed, tryProgram } from './interpreter.ts';
import { hasEnvironment, removeHalfEnvironment, useEnvironment } from './kept-projects.ts';
import { build, type Making, type MakingContext } from './making.ts';
import type { Project } from './prepared-project.ts';
import { PYTHON_MAIN } from './project-kind.ts';
import { environmentCommands, environmentKey } from './python-environment.ts';
import { findPython } from './python-interpreter.ts';
import { type PythonProject, readPythonProject } from './python-project.ts';

/**
 * Makes the environment that a Python project asks for, unless one of its owner is there already, and compiles the project
 * itself. Rejects with `PrepareError`.
 */
export async function makePythonProject(
  context: MakingContext,
  making: Making,
): Promise<Pick<Project, 'main' | 'environment'>> {
  const { directory, owner, output, gid } = making;
  const account = context.isolation.ownAccounts ? TRIAL_ACCOUNT : null;
  const shim = await context.shim();
  const uv = await findUv(context, account);
  const project = readPythonProject(directory, uv !== null);
  for (const note of project.notes) output(note);
  const requirements = [
    { who: 'pyproject.toml asks', range: project.requiresPython },
    { who: 'the host shim asks', range: shim.requiresPython },
  ].filter(({ range }) => range !== '');
  const python = await findPython(requirements, context.path, account);
  const tools = { python, uv };
  const environment = environmentKey(directory, making.id, project, tools, shim.requirements);
  const named = { project: making.id, owner, environment };
  const files = environmentFiles(context.kept.environmentsDirectory, named);
  await shim.compile(python);
  const isThere = hasEnvironment(context.kept, named);
  output(
    `Python ${python.version} (${python.path})${isThere ? ', with what an earlier version of the project installed' : ''}`,
  );
  if (!isThere) {
    await removeHalfEnvironment(context.kept, named);
    mkdirSync(files.environment, { recursive: true, mode: 0o750 });
    if (gid !== null) for (const path of [files.directory, files.environment]) chownSync(path, 0, gid);
    for (const path of [files.directory, files.environment]) chmodSync(path, 0o750);
  }
  try {
    await build(context, making, null, isThere ? [] : [files.environment], async (run, builder) => {
      if (!isThere) {
        const place = {
          environment: files.environment,
          project: directory,
          ...writeInputs(builder, project, shim.requirements),
        };
        for (const command of environmentCommands(project, tools, place)) await run(command);
      }
      await run({
        title: 'compileall',
        // A file for another Python is not this bot's business, and fails when it is imported.
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
    if (!isThere) writeMarker(files, python);
    useEnvironment(context.kept, named);
  } catch (error) {
    await removeHalfEnvironment(context.kept, named);
    throw error;
  }
  return { main: PYTHON_MAIN, environment };
}

async function findUv(context: MakingContext, account: typeof TRIAL_ACCOUNT | null): Promise<string | null> {
  for (const candidate of programsNamed(['uv'], context.path)) {
    if ((await tryProgram(candidate, ['--version'], account)) !== null) return candidate;
  }
  return null;
}

/** Files for the build, in a folder where it can only read them. */
function writeInputs(builder: Builder, project: PythonProject, shimRequirements: readonly string[]) {
  const { dependencies } = project;
  const list = dependencies.kind === 'pyproject' ? (dependencies.list ?? []) : [];
  const write = (name: string, lines: readonly string[]) => {
    const path = join(builder.inputs, name);
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    chmodSync(path, 0o644);
    return path;
  };
  return {
    shimRequirements: write('shim-requirements.txt', shimRequirements),
    projectRequirements: write('project-requirements.txt', list),
    constraints: join(builder.home, 'constraints.txt'),
  };
}
