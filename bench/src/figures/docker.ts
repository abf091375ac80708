import { randomBytes } from 'node:crypto';
import { respondsWith200, withService } from '../benchmarked-service.ts';
import { deployImage } from '../deploy-image.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { docker, withParrotImage } from '../parrot-image.ts';
import { median, quantile } from '../quantile.ts';
import { waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';
import { measureStart } from './warm-start.ts';

const environment = { BOTHOST_RUNTIME: 'docker', BOTHOST_LOCAL_IMAGES: 'true' };
const parrot = { name: 'parrot', bot: 'parrot', minAgents: 2, maxAgents: 10 } as const;
const adopted = 30;

/**
 * Measures starts of bots as containers of the machine's Docker engine. Compares cold ones with `docker run`, and warm ones with
 * bots as processes. Then measures how long a restarted service takes to adopt running containers.
 */
export const dockerBench: Benchmark = {
  name: 'docker',
  run: async ({ quick, log, report }) => {
    if (!(await docker('version').then(Boolean, () => false))) return log('not measured: no Docker engine is running');
    await withParrotImage(async (image) => {
      const { cold, run, warm, processes } = await measureStarts(image, quick, log);
      const [coldMs, runMs] = [median(cold), median(run)];
      const [warmMs, processMs] = [quantile(warm, 0.99), quantile(processes, 0.99)];
      const limit = { most: 1 } as const;
      report(
        {
          what: 'cold start of a container, median',
          ours: formatMilliseconds(coldMs),
          reference: `${formatMilliseconds(runMs)} docker run until HTTP is ready, and 150 ms`,
          ratio: coldMs / (runMs + 150),
          limit,
        },
        {
          what: 'warm start of a container, p99',
          ours: `${formatMilliseconds(warmMs)} (p50 ${formatMilliseconds(median(warm))})`,
          reference: `${formatMilliseconds(processMs)} (p50 ${formatMilliseconds(median(processes))}) of a process, and 2 ms`,
          ratio: warmMs / (processMs + 2),
          limit,
        },
      );
      const { none, many } = await measureRestarts(image, quick);
      report({
        what: `adoption of ${adopted} containers by a restarted service`,
        ours: `${formatMilliseconds(many - none)} (ready after ${formatMilliseconds(many)})`,
        reference: `1000.00 ms (ready after ${formatMilliseconds(none)} without containers)`,
        ratio: (many - none) / 1000,
        limit,
      });
    });
  },
};

/** The samples alternate. */
async function measureStarts(image: string, quick: boolean, log: (line: string) => void) {
  const samples = { cold: [] as number[], run: [] as number[], warm: [] as number[], processes: [] as number[] };
  await withService({ agents: [], environment }, async (service) => {
    await deployImage(service, { serviceName: 'cold', image, minAgents: 0 });
    await deployImage(service, { serviceName: parrot.name, image, minAgents: parrot.minAgents });
    await withService({ agents: [parrot] }, async (processService) => {
      // Uses the instance with which the deployment was validated.
      await measureStart(service, 'cold');
      for (let index = -5; index < (quick ? 20 : 200); index++) {
        for (const one of [service, processService]) await waitForWarmInstances(one, parrot.name, parrot.minAgents);
        const warm = await measureStart(service, parrot.name);
        const processMs = await measureStart(processService, parrot.name);
        if (index < 0) continue;
        samples.warm.push(warm);
        samples.processes.push(processMs);
        if (index % 10 !== 0) continue;
        for (const one of [service, processService]) await waitForWarmInstances(one, parrot.name, parrot.minAgents);
        samples.cold.push(await measureStart(service, 'cold'));
        samples.run.push(await measureDockerRun(image));
        log(`${index} samples`);
      }
    });
  });
  return samples;
}

/** Returns the milliseconds from `docker run` until the bot responds. */
async function measureDockerRun(image: string): Promise<number> {
  const name = `bothost-bench-${randomBytes(4).toString('hex')}`;
  const variables = ['-e', 'PORT=8080', '-e', 'BOT_HOST=0.0.0.0'];
  const before = performance.now();
  await docker('run', '-d', '--init', '--name', name, ...variables, image);
  try {
    const address = await docker('inspect', '-f', '{{.NetworkSettings.IPAddress}}', name);
    const isReady = async () => ((await respondsWith200(`http://${address}:8080/readyz`)) ? true : undefined);
    await waitUntil('the bot', isReady, { everyMs: 2 });
    return performance.now() - before;
  } finally {
    await docker('rm', '-f', name);
  }
}

/** Returns the median milliseconds until a killed service is ready again, without containers and with many. */
async function measureRestarts(image: string, quick: boolean) {
  return withService({ agents: [], environment }, async (service) => {
    const restart = async () => {
      const times: number[] = [];
      for (let count = 0; count < (quick ? 1 : 5); count++) times.push(await service.restart());
      return median(times);
    };
    const none = await restart();
    await deployImage(service, { serviceName: 'many', image, minAgents: adopted });
    await waitForWarmInstances(service, 'many', adopted);
    return { none, many: await restart() };
  });
}
