import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPython, type Interpreter } from './find-python.ts';
import { requireUvInstallation, type UvInstallation } from './uv.ts';
import { writeProjects } from './write-projects.ts';

/**
 * A project with the combined dependencies of several generated projects. These projects require the same minimum version of
 * Python and the same minimum version of pipecat-ai. If uv can resolve the combined dependencies, the resolved versions satisfy
 * each of these projects. uv queries the registry, but installs no packages.
 */
type JoinedProjects = { readonly directory: string; readonly python: string; readonly library: string };

let directory: string;
let uv: UvInstallation;
let interpreter: Interpreter;
let joined: readonly JoinedProjects[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-lock-'));
  uv = requireUvInstallation();
  interpreter = await findPython();
  const written = await writeProjects(join(directory, 'projects'));
  const files = written.map((project) => readFile(join(project.directory, 'pyproject.toml'), 'utf8'));
  const byBounds = new Map<string, string[]>();
  for (const text of await Promise.all(files)) {
    const python = /^requires-python = ">=(.*)"$/m.exec(text)?.[1] ?? '';
    const library = /"pipecat-ai\[[^\]]*\]>=([0-9.]+),/.exec(text)?.[1] ?? '';
    if (minor(python) > minor(interpreter.version)) {
      process.stdout.write(`not resolved: a project for Python ${python}; this machine has ${interpreter.version}\n`);
    } else byBounds.set(`${python} ${library}`, [...(byBounds.get(`${python} ${library}`) ?? []), text]);
  }
  joined = await Promise.all([...byBounds].map(([bounds, texts]) => writeJoined(bounds, texts)));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function minor(version: string): number {
  return Number(version.split('.')[1]);
}

/** Writes a project that joins the dependencies and dependency groups of several pyproject.toml files (`texts`). */
async function writeJoined(bounds: string, texts: readonly string[]): Promise<JoinedProjects> {
  const [python = '', library = ''] = bounds.split(' ');
  const lists = new Map<string, Set<string>>();
  for (const [, name = '', items = ''] of texts.flatMap((text) => [
    ...text.matchAll(/^(\w+) = \[\n((?: {4}.+\n)+)\]/gm),
  ])) {
    lists.set(name, new Set([...(lists.get(name) ?? []), ...items.trimEnd().split('\n')]));
  }
  const list = (name: string) => `${name} = [\n${[...(lists.get(name) ?? [])].join('\n')}\n]\n`;
  const groups = [...lists.keys()].filter((name) => name !== 'dependencies');
  const project = ['[project]', 'name = "joined"', 'version = "1"', `requires-python = ">=${python}"`];
  const text = [...project, list('dependencies'), '[dependency-groups]', ...groups.map(list)].join('\n');
  const folder = join(directory, `python-${python}-library-${library}`);
  await mkdir(folder);
  await writeFile(join(folder, 'pyproject.toml'), text);
  return { directory: folder, python, library };
}

/**
 * Runs uv once in the directory of each joined project. The processes run in parallel, because uv mostly waits for the package
 * registry.
 */
async function resolveAll(argumentsFor: (project: JoinedProjects) => readonly string[]): Promise<void> {
  const env = { ...uv.environment, UV_PYTHON: interpreter.program };
  await Promise.all(
    joined.map((project) =>
      promisify(execFile)(uv.program, ['--quiet', ...argumentsFor(project)], { cwd: project.directory, env }),
    ),
  );
}

test('uv can lock all projects with their dependency groups for every Python version that they allow', async () => {
  await resolveAll(() => ['lock']);
  const locks = await Promise.all(joined.map((one) => readFile(join(one.directory, 'uv.lock'), 'utf8')));
  expect(locks.length).toBeGreaterThan(1);
  for (const lock of locks) expect(lock).toMatch(/^name = "pipecat-ai"$/m);
});

test('uv resolves all generated projects with the lowest versions of direct dependencies that they allow', async () => {
  const compile = ['pip', 'compile', '--no-header', '--resolution', 'lowest-direct', '--output-file', 'lowest.txt'];
  await resolveAll(({ python }) => [...compile, '--python-version', python, 'pyproject.toml']);
  for (const { directory: folder, library } of joined) {
    expect(await readFile(join(folder, 'lowest.txt'), 'utf8'), folder).toMatch(
      new RegExp(`^pipecat-ai(\\[.*\\])?==${library}$`, 'm'),
    );
  }
});
