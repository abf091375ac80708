import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPython, type Interpreter } from './find-python.ts';
import { openUv, type Uv } from './uv.ts';
import { type WrittenProject, writeProjects } from './write-projects.ts';

/**
 * The bounds of generated projects against the registry: resolved, not installed. Each set of dependencies once; those of a
 * pair of transports are what both bring, so pairs are left out.
 */
let directory: string;
let uv: Uv;
let python: Interpreter;
type Bounded = WrittenProject & { readonly pyproject: string; readonly lowestPython: string };
let distinct: readonly Bounded[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-lock-'));
  uv = await openUv();
  python = await findPython();
  const byDependencies = new Map<string, Bounded>();
  for (const project of (await writeProjects(directory)).filter(({ name }) => !isPair(name))) {
    const pyproject = await readFile(join(project.directory, 'pyproject.toml'), 'utf8');
    const dependencies = pyproject.slice(pyproject.indexOf('requires-python'));
    const lowestPython = /^requires-python = ">=(.*)"$/m.exec(pyproject)?.[1] ?? '';
    if (!byDependencies.has(dependencies)) byDependencies.set(dependencies, { ...project, pyproject, lowestPython });
  }
  const all = [...byDependencies.values()];
  distinct = all.filter(({ lowestPython }) => minor(lowestPython) <= minor(python.version));
  for (const { name, lowestPython } of all.filter((one) => !distinct.includes(one))) {
    process.stdout.write(`not resolved: ${name}: it needs Python ${lowestPython}, and here is ${python.version}\n`);
  }
  process.stdout.write(`${distinct.length} different sets of dependencies\n`);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function isPair(name: string): boolean {
  const [, one, other] = /^(\S+) and ([^,\s]+)/.exec(name) ?? [];
  return one !== undefined && one !== other;
}

function minor(version: string): number {
  return Number(version.split('.')[1]);
}

/** What uv says against each project, some at once: most of it is waiting for the registry. */
async function refusals(argsFor: (project: Bounded) => readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  const queue = distinct.values();
  const work = async () => {
    for (const project of queue) {
      const { name, directory: cwd } = project;
      const [args, env] = [['--quiet', ...argsFor(project)], { ...uv.environment, UV_PYTHON: python.program }];
      await promisify(execFile)(uv.program, args, { cwd, env }).catch((error: unknown) =>
        found.push(`${name}: ${error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)}`),
      );
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return found;
}

test('every project can be locked for all Pythons that it allows, with its groups', async () => {
  expect(await refusals(() => ['lock'])).toEqual([]);
  const sizes = await Promise.all(distinct.map((one) => readFile(join(one.directory, 'uv.lock'), 'utf8')));
  expect(sizes.every((lock) => /^name = "pipecat-ai"$/m.test(lock))).toBe(true);
});

test('the lower bounds resolve, too: releases as old as a project says it takes are there', async () => {
  const lowest = ['pip', 'compile', '--no-header', '--resolution', 'lowest-direct', '--output-file', 'lowest.txt'];
  expect(await refusals(({ lowestPython }) => [...lowest, '--python-version', lowestPython, 'pyproject.toml'])).toEqual(
    [],
  );
  for (const { name, directory: place, pyproject } of distinct) {
    const lower = /"pipecat-ai\[[^\]]*\]>=([0-9.]+),/.exec(pyproject)?.[1];
    expect(await readFile(join(place, 'lowest.txt'), 'utf8'), `${name} in ${dirname(place)}`).toContain(`==${lower}\n`);
  }
});
