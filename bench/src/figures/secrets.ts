import { randomBytes } from 'node:crypto';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { callApi } from '../call-api.ts';
import { type Benchmark, type BenchmarkFigure, formatMilliseconds } from '../figure.ts';
import { median, quantile } from '../quantile.ts';
import { startSession, stopSession } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';

/**
 * Limit in milliseconds for the time from a write of a secret set until the set is ready for deploys. The 95th percentile of
 * the measured times must not exceed the limit.
 */
const readyMs = 2_000;
const plain = { name: 'plain', bot: 'tiny', minAgents: 0, maxAgents: 20 } as const;
const keyed = { ...plain, name: 'keyed' } as const;
/** Number of keys in a secret set of the maximum size. */
const keys = 256;

/**
 * Measures writes of one key and of many keys, the time until a written set is ready for a deploy, and the time that secrets add
 * to a cold start.
 */
export const secretsBench: Benchmark = {
  name: 'secrets',
  run: ({ quick, log, report }) =>
    withService({ agents: [plain, keyed] }, async (service) => {
      for (const count of [1, 50]) {
        log(`writes of ${count} keys`);
        report(...(await writes(service, count, quick ? 10 : 200)));
      }
      log('cold starts');
      report(await coldStarts(service, quick ? 3 : 25));
    }),
};

async function writes(
  service: BenchmarkedService,
  count: number,
  samples: number,
): Promise<readonly BenchmarkFigure[]> {
  const stored: number[] = [];
  const ready: number[] = [];
  for (let index = -5; index < samples; index++) {
    const begun = performance.now();
    await put(service, `set-${count}`, count);
    const written = performance.now() - begun;
    await untilReady(service, `set-${count}`);
    if (index < 0) continue;
    stored.push(written);
    ready.push(performance.now() - begun);
  }
  const what = count === 1 ? '1 key' : `${count} keys`;
  const p95 = quantile(ready, 0.95);
  return [
    {
      what: `write of ${what}, p50`,
      ours: formatMilliseconds(median(stored)),
      reference: '',
      ratio: null,
      limit: null,
    },
    {
      what: `write of ${what} until it is ready, p95`,
      ours: formatMilliseconds(p95),
      reference: formatMilliseconds(readyMs),
      ratio: p95 / readyMs,
      limit: { most: 1 },
    },
  ];
}

/**
 * Starts the same bot alternately with the largest secret set and without secrets. The first rounds are not counted: they use
 * the instances that the deployments have already started, so these starts are not cold.
 */
async function coldStarts(service: BenchmarkedService, samples: number): Promise<BenchmarkFigure> {
  await put(service, 'largest', keys);
  await untilReady(service, 'largest');
  await callApi(service, 'POST', `/v1/agents/${keyed.name}`, { secretSet: 'largest' });
  await waitUntil('the deployment with secrets', async () => {
    const agent = (await callApi(service, 'GET', `/v1/agents/${keyed.name}`)) as Record<string, unknown>;
    return agent['activeDeploymentId'] === agent['desiredDeploymentId'] ? true : undefined;
  });
  const took: Record<string, number[]> = { [plain.name]: [], [keyed.name]: [] };
  for (let index = -3; index < samples; index++) {
    for (const { name } of [plain, keyed]) {
      const begun = performance.now();
      const session = await startSession(service, name);
      if (index >= 0) took[name]?.push(performance.now() - begun);
      await stopSession(service, name, session.id);
      await untilNone(service, name);
    }
  }
  const [without, withSet] = [median(took[plain.name] ?? []), median(took[keyed.name] ?? [])];
  return {
    what: `cold start of a bot with ${keys} secrets`,
    ours: formatMilliseconds(withSet),
    reference: `${formatMilliseconds(without)} without`,
    ratio: withSet / without,
    limit: null,
  };
}

async function untilNone(service: BenchmarkedService, agent: string): Promise<void> {
  const text = `select count(*)::int as warm from instances join agents on agents.id = agent_id
    where agents.name = $1 and state <> 'ended'`;
  await waitUntil(`no instance of ${agent}`, async () =>
    (await service.database.query(text, [agent])).rows[0].warm === 0 ? true : undefined,
  );
}

function put(service: BenchmarkedService, name: string, count: number): Promise<unknown> {
  const values = Array.from({ length: count }, (_, index) => ({
    secretKey: `KEY_${index}`,
    secretValue: randomBytes(24).toString('hex'),
  }));
  return callApi(service, 'PUT', `/v1/secrets/${name}`, { secrets: values });
}

async function untilReady(service: BenchmarkedService, name: string): Promise<void> {
  const ask = async () => {
    const set = (await callApi(service, 'GET', `/v1/secrets/${name}`)) as Record<string, unknown>;
    return set['status'] === 'ready' ? true : undefined;
  };
  await waitUntil(`${name} ready`, ask, { everyMs: 1 });
}
