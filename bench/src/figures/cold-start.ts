import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServiceSettings, respondsWith200, withTemporaryDirectory } from '../benchmarked-service.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { findProcessTree } from '../process-usage.ts';
import { minimalEnvironment } from '../program.ts';
import { median } from '../quantile.ts';
import { botcliProgramPath, repositoryRoot } from '../repository.ts';
import { waitUntil } from '../wait-until.ts';

/** Measures the time from `npm start` to the first response, and the time of `botcli --version`. */
export const coldStartBench: Benchmark = {
  name: 'cold-start',
  run: async ({ quick, log, report }) => {
    const fresh: number[] = [];
    const again: number[] = [];
    for (let index = 0; index < (quick ? 1 : 5); index++) {
      log(`cold start ${index + 1}`);
      await withTemporaryDirectory(async (directory) => {
        const { origin, environment } = await createServiceSettings(directory, null);
        fresh.push(await npmStart(origin, environment));
        again.push(await npmStart(origin, environment));
      });
    }
    const [none, version] = [[], []] as [number[], number[]];
    for (let index = 0; index < (quick ? 5 : 30); index++) {
      none.push(await node(['-e', '0']));
      version.push(await node([botcliProgramPath, '--version']));
    }
    const npm = await npmAlone();
    const plain = { reference: `${formatMilliseconds(npm)} npm itself`, ratio: null, limit: null };
    report(
      { what: 'npm start to the first answer, new data directory', ours: formatMilliseconds(median(fresh)), ...plain },
      {
        what: 'npm start to the first answer, existing data directory',
        ours: formatMilliseconds(median(again)),
        ...plain,
      },
      {
        what: 'botcli --version',
        ours: formatMilliseconds(median(version)),
        reference: `${formatMilliseconds(median(none))} node -e 0`,
        ratio: median(version) / median(none),
        limit: { most: 1.3 },
      },
    );
  },
};

/**
 * Returns the milliseconds from `npm start` to the first response. Then stops the service process directly, because npm does not
 * forward signals to it.
 */
async function npmStart(origin: string, environment: Record<string, string>): Promise<number> {
  const before = performance.now();
  const npm = spawn('npm', ['start'], { cwd: repositoryRoot, stdio: 'ignore', env: environment });
  const exit = once(npm, 'exit');
  await waitUntil('an answer', async () => ((await respondsWith200(`${origin}/healthz`)) ? true : undefined), {
    everyMs: 2,
  });
  const elapsed = performance.now() - before;
  process.kill(await serviceBelow(npm.pid ?? 0));
  await exit;
  return elapsed;
}

async function serviceBelow(npm: number): Promise<number> {
  for (const pid of await findProcessTree(npm)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    if (pid !== npm && command.includes('packages/server/dist/main.js')) return pid;
  }
  throw new Error('The service process that npm start runs was not found.');
}

function npmAlone(): Promise<number> {
  return run('npm', ['--version']);
}

function node(args: readonly string[]): Promise<number> {
  return run(process.execPath, args);
}

async function run(file: string, args: readonly string[]): Promise<number> {
  const before = performance.now();
  const [code] = await once(spawn(file, args, { stdio: 'ignore', env: minimalEnvironment }), 'exit');
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} exited with status ${code}`);
  return performance.now() - before;
}
