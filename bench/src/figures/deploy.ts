import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAgentDirectory } from '../agent-directory.ts';
import { type BenchmarkedService, withService, withTemporaryDirectory } from '../benchmarked-service.ts';
import { deployProject } from '../deploy-project.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { median } from '../quantile.ts';

/** Time limit in milliseconds for deploying an unchanged project. */
const unchangedMs = 1_000;
/** Number of files in the test project, and the size of each in bytes. The content is mostly incompressible. */
const files = { count: 400, bytes: 10_000 };

/** Measures the time of `botcli cloud deploy`, first for a new project and then for the same project without changes. */
export const deployBench: Benchmark = {
  name: 'deploy',
  run: ({ quick, log, report }) =>
    withService({ agents: [] }, (service) =>
      withTemporaryDirectory(async (directory) => {
        const first: number[] = [];
        const again: number[] = [];
        for (let index = 0; index < (quick ? 1 : 5); index++) {
          log(`deploy ${index + 1}`);
          const project = await writeProject(directory, `deployed-${index + 1}`);
          first.push((await deployProject(service, project)).elapsed);
          for (let turn = 0; turn < (quick ? 1 : 5); turn++) again.push(await deployUnchanged(service, project));
        }
        const what = `a project of ${files.count} files, ${(files.count * files.bytes) / 1e6} MB`;
        report(
          {
            what: `first deploy of ${what}`,
            ours: formatMilliseconds(median(first)),
            reference: '',
            ratio: null,
            limit: null,
          },
          {
            what: `second deploy of ${what}, unchanged`,
            ours: formatMilliseconds(median(again)),
            reference: formatMilliseconds(unchangedMs),
            ratio: median(again) / unchangedMs,
            limit: { most: 1 },
          },
        );
      }),
    ),
};

async function writeProject(directory: string, name: string): Promise<string> {
  const project = await writeAgentDirectory(join(directory, 'agents'), {
    name,
    bot: 'parrot',
    minAgents: 0,
    maxAgents: 1,
  });
  await mkdir(join(project, 'prompts'));
  for (let index = 0; index < files.count; index++) {
    await writeFile(join(project, 'prompts', `${index}.bin`), randomBytes(files.bytes));
  }
  return project;
}

/** Measures the deploy of an unchanged project. Fails if the deploy starts a build or changes the deployment. */
async function deployUnchanged(service: BenchmarkedService, project: string): Promise<number> {
  const before = await buildsOf(service);
  const { elapsed, document } = await deployProject(service, project);
  if (document.change !== 'none') throw new Error(`The second deploy made a change: ${document.change}`);
  if ((await buildsOf(service)) !== before)
    throw new Error('The second deploy created a build instead of using the first one.');
  return elapsed;
}

async function buildsOf(service: BenchmarkedService): Promise<number> {
  const headers = { authorization: `Bearer ${service.privateKey}` };
  const response = await fetch(`${service.origin}/v1/builds?limit=1`, { headers });
  return ((await response.json()) as { readonly total: number }).total;
}
