import { setTimeout as delay } from 'node:timers/promises';
import { deployImage } from '../deploy-image.ts';
import { formatMilliseconds } from '../figure.ts';
import { commitOnce, createCommitTable, measurePost, measureStart, startParrot } from '../figures/warm-start.ts';
import { scaleAgent } from '../first-second/instances.ts';
import { median, quantile } from '../quantile.ts';
import { stopSession } from '../sessions.ts';
import { type PodSpec, removeBarePods, startBarePod, waitForNoPods } from './bare-pods.ts';
import { callAtRate, countColdStarts, type KubernetesBenchContext } from './kubernetes-bench.ts';

/** Two agents share a burst, because an agent has at most 50 instances. */
const burstAgents = ['left', 'right'] as const;
const burstPerSecond = 50;
const burstGoalMs = 200;
/** Milliseconds between the filling of pools and a burst, because the cluster is still busy with new pods. */
const settleMs = 5_000;
/** An agent with a warm pool. */
export const steadyAgent = { name: 'steady', minAgents: 10 } as const;
const steadyPerSecond = 2;
const steadyGoalMs = 100;
const sessionSeconds = 5;

/**
 * Fills warm pools, and starts a session on each of their pods. Meanwhile no pod is added, because the agents have reached
 * `max_agents`. Alternates with the same pods without the service.
 */
export async function measureBursts(
  { service, cluster, image, quick, log, report }: KubernetesBenchContext,
  spec: PodSpec,
): Promise<void> {
  const [rounds, half] = quick ? [1, 5] : [3, 45];
  const count = 2 * half;
  const agentOf = (index: number) => burstAgents[index % 2] ?? burstAgents[0];
  for (const serviceName of burstAgents) {
    await deployImage(service, { serviceName, image, minAgents: 0 });
    await measureStart(service, serviceName);
  }
  await createCommitTable(service.database);
  const [fills, bareFills]: [number[], number[]] = [[], []];
  const [starts, sums]: [(readonly number[])[], (readonly number[])[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await waitForNoPods(cluster);
    const fill = () => Promise.all(burstAgents.map((agent) => scaleAgent(service, agent, half, half)));
    fills.push((await measureSeconds(fill)).seconds);
    await delay(settleMs);
    const sessions = await callAtRate(count, burstPerSecond, (index) => startParrot(service, agentOf(index)));
    starts.push(sessions.map(({ startMs }) => startMs));
    await Promise.all(burstAgents.map((agent) => scaleAgent(service, agent, 0, half)));
    await Promise.all(sessions.map(({ sessionId }, index) => stopSession(service, agentOf(index), sessionId)));

    await waitForNoPods(cluster);
    const fillBare = () => Promise.all(Array.from({ length: count }, () => startBarePod(cluster, spec)));
    const { seconds, result: origins } = await measureSeconds(fillBare);
    bareFills.push(seconds);
    await delay(settleMs);
    const measureSum = async (index: number) =>
      (await measurePost(origins[index] ?? '')) + (await commitOnce(service.database));
    sums.push(await callAtRate(count, burstPerSecond, measureSum));
    await removeBarePods(cluster);
    log(`${round + 1} of ${rounds}: p99 ${formatMilliseconds(describeStarts(starts.slice(-1)).p99)}`);
  }
  const [ours, direct] = [describeStarts(starts), describeStarts(sums)];
  const what = `${count} warm starts on ${count} pods, ${burstPerSecond}/s, p99`;
  report(
    { what, ours: ours.text, reference: `${burstGoalMs} ms`, ratio: ours.p99 / burstGoalMs, limit: { most: 1 } },
    {
      what: `${what}, and without the service`,
      ours: ours.text,
      reference: `${direct.text} POST and commit`,
      ratio: ours.p99 / direct.p99,
      limit: { most: 2 },
    },
    {
      what: `filling warm pools with ${count} pods, median`,
      ours: `${(count / median(fills)).toFixed(1)} pods/s`,
      reference: `${(count / median(bareFills)).toFixed(1)} pods/s by API calls`,
      ratio: median(bareFills) / median(fills),
      limit: { least: 0.8 },
    },
  );
}

/** Starts sessions of a few seconds at a fixed rate, while the warm pool is refilled. */
export async function measureSteadyStarts({ service, image, quick, report }: KubernetesBenchContext): Promise<void> {
  const { name, minAgents } = steadyAgent;
  await deployImage(service, { serviceName: name, image, minAgents, maxAgents: 50 });
  const seconds = quick ? 10 : 120;
  const results = await callAtRate(steadyPerSecond * seconds, steadyPerSecond, () =>
    startParrot(service, name, { exitAfterSeconds: sessionSeconds }).catch(() => null),
  );
  const sessions = results.filter((session) => session !== null);
  const [cold, failed] = [await countColdStarts(service, sessions), results.length - sessions.length];
  const { p99, text } = describeStarts([sessions.map(({ startMs }) => startMs)]);
  const what = `${steadyPerSecond} starts/s for ${seconds} s, ${minAgents} pods kept ready`;
  report(
    {
      what: `${what}, p99`,
      ours: text,
      reference: `${steadyGoalMs} ms`,
      ratio: p99 / steadyGoalMs,
      limit: { most: 1 },
    },
    {
      what: `${what}: cold or failed`,
      ours: `${cold} cold, ${failed} failed of ${results.length}`,
      reference: '0',
      ratio: cold + failed,
      limit: { most: 0 },
    },
  );
}

async function measureSeconds<T>(run: () => Promise<T>): Promise<{ readonly seconds: number; readonly result: T }> {
  const before = performance.now();
  const result = await run();
  return { seconds: (performance.now() - before) / 1000, result };
}

/** Each percentile is the median of the rounds' percentiles, in milliseconds. */
function describeStarts(rounds: readonly (readonly number[])[]) {
  const at = (fraction: number) => median(rounds.map((times) => quantile(times, fraction)));
  return { p99: at(0.99), text: `${formatMilliseconds(at(0.99))} (p50 ${formatMilliseconds(at(0.5))})` };
}
