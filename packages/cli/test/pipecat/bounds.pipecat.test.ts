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

/** Returns the names in generated code that a pipecat-ai release does not define. Maps each name to a project that uses it. */
async function missingIn(release: string, own: readonly WrittenProject[]): Promise<Readonly<Record<string, string>>> {
  const paths = own.flatMap(({ files }) => files.filter((path) => path.endsWith('bot.py')));
  const [source, known] = [
    await downloadPipecatSource(release, python),
    await downloadPipecatSource(libraryVersion, python),
  ];
  const found = await runPythonScript<MissingNames>(python.program, 'find_missing.py', {
    release: source,
    known,
    paths,
  });
  expect(found).toHaveLength(paths.length);
  const uses = found.flatMap(({ path, missing }) => {
    const project = own.find(({ files }) => files.includes(path));
    return missing.map((name) => [name, project?.name ?? path] as const);
  });
  return Object.fromEntries(uses);
}

const bounds = [
  ...new Set(projectMatrix.map(([, configuration]) => createProjectPlan(configuration).lowest.library)),
].sort();

test.each(bounds)(
  'projects whose minimum pipecat-ai release is %s use nothing that this release lacks',
  async (release) => {
    const own = written.filter(({ lowest }) => lowest === release);
    expect(own.length).toBeGreaterThan(0);
    expect(await missingIn(release, own)).toEqual({});
  },
);

test('find_missing.py reports imports, arguments and attributes that an older pipecat-ai release lacks', async () => {
  const own = written.filter(({ lowest }) => lowest === '1.13.0');
  const missing = Object.keys(await missingIn('1.9.0', own));
  expect(missing).toContain('pipecat.transports.base_transport.VideoInSourceParams');
  expect(missing).toContain('DailyParams(video_in_sources=)');
  expect(missing).toContain('.get_client_id');
});
