import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createProjectPlan } from '../../src/scaffold/configuration/plan.ts';
import { projectMatrix } from '../scaffold/project-matrix.ts';
import { runPythonScript } from './ask-library.ts';
import { findPython } from './find-python.ts';
import { downloadPipecatSource } from './library-source.ts';
import { libraryVersion } from './pipecat-environment.ts';
import { type WrittenProject, writeProjects } from './write-projects.ts';

/**
 * Checks generated code against the source of the lowest pipecat-ai release that its project accepts. lock.pipecat.test.ts
 * checks that uv can resolve the dependencies with this release.
 */
type BoundedProject = WrittenProject & { readonly lowest: string };
const directory = await mkdtemp(join(tmpdir(), 'botcli-bounds-'));
const python = await findPython();
const read = async (project: WrittenProject): Promise<BoundedProject> => {
  const pyproject = await readFile(join(project.directory, 'pyproject.toml'), 'utf8');
  return { ...project, lowest: /"pipecat-ai\[[^\]]*\]>=([0-9.]+),/.exec(pyproject)?.[1] ?? '' };
};
const written = await Promise.all((await writeProjects(directory)).map(read));
afterAll(() => rm(directory, { recursive: true, force: true }));

type MissingNames = { readonly path: string; readonly missing: readonly string[] };

const bounds = [
  ...new Set(projectMatrix.map(([, configuration]) => createProjectPlan(configuration).lowest.library)),
].sort();
const bounded = (bound: string) => written.filter(({ lowest }) => lowest === bound);
/** The projects to check against a release. The last row checks the script itself. */
const rows = [
  ...bounds.map((release) => ({ release, own: bounded(release) })),
  { release: '1.9.0', own: bounded('1.13.0') },
];
const checks = await Promise.all(
  rows.map(async ({ release, own }) => ({
    release: await downloadPipecatSource(release, python),
    paths: own.flatMap(({ files }) => files.filter((path) => path.endsWith('bot.py'))),
  })),
);
// One process for all rows, because parsing the source of a release takes seconds.
const question = { known: await downloadPipecatSource(libraryVersion, python), checks };
const found = await runPythonScript<readonly (readonly MissingNames[])[]>(python.program, 'find_missing.py', question);

/** Returns the names that the release of a row does not define. Maps each name to a project that uses it. */
function missingIn(row: number): Readonly<Record<string, string>> {
  expect(found[row]?.map(({ path }) => path)).toEqual(checks[row]?.paths);
  const uses = (found[row] ?? []).flatMap(({ path, missing }) => {
    const project = rows[row]?.own.find(({ files }) => files.includes(path));
    return missing.map((name) => [name, project?.name ?? path] as const);
  });
  return Object.fromEntries(uses);
}

test.each(bounds.map((release, row) => [release, row] as const))(
  'projects whose minimum pipecat-ai release is %s use nothing that this release lacks',
  (_, row) => {
    expect(rows[row]?.own).not.toEqual([]);
    expect(missingIn(row)).toEqual({});
  },
);

test('find_missing.py reports imports, arguments and attributes that an older pipecat-ai release lacks', () => {
  const missing = Object.keys(missingIn(bounds.length));
  expect(missing).toContain('pipecat.transports.base_transport.VideoInSourceParams');
  expect(missing).toContain('DailyParams(video_in_sources=)');
  expect(missing).toContain('.get_client_id');
});
