import { request } from 'undici';
import type { BenchmarkedService } from '../benchmarked-service.ts';
import { formatMilliseconds } from '../figure.ts';
import { mean, median } from '../quantile.ts';
import { startSession, stopSession } from '../sessions.ts';
import { startStandaloneBot } from './by-hand.ts';
import { listOpenInstances, readInstanceCpuMs, scaleAgent } from './instances.ts';
import { forked, spawned, type VoiceBenchContext } from './voice-bench.ts';

/**
 * Goals in milliseconds: the duration of a single cold start, its CPU time, and the duration of the slowest of several
 * simultaneous cold starts.
 */
const [goalMs, cpuGoalMs, atOnceGoalMs] = [100, 50, 1000];
const atOnce = 8;

type ColdStart = {
  /** Milliseconds from the assignment of an instance to the session until the instance is ready. */
  readonly bootMs: number;
  /** Milliseconds from the request until the instance is ready. */
  readonly readyMs: number;
  /** CPU time of the instance in milliseconds until it has accepted its session. */
  readonly cpuMs: number;
};

/** Measures cold starts of single instances. The reference is the time until `python bot.py` responds. */
export async function measureColdStarts({ service, runs, byHandOptions, report }: VoiceBenchContext): Promise<void> {
  const byAgent = { [forked]: [] as ColdStart[], [spawned]: [] as ColdStart[] };
  const byHand: { readonly readyMs: number; readonly readyCpuMs: number }[] = [];
  for (let index = 0; index < runs; index++) {
    for (const agent of [forked, spawned]) byAgent[agent].push((await startCold(service, agent, 1))[0] as ColdStart);
    const bot = await startStandaloneBot(byHandOptions);
    await bot.stop();
    byHand.push(bot);
  }
  const boot = (agent: typeof forked | typeof spawned) => median(byAgent[agent].map(({ bootMs }) => bootMs));
  const cpu = (agent: typeof forked | typeof spawned) => mean(byAgent[agent].map(({ cpuMs }) => cpuMs));
  report({
    what: 'cold start of a voice bot, process to ready, median',
    ours: formatMilliseconds(boot(forked)),
    reference: `${formatMilliseconds(median(byHand.map(({ readyMs }) => readyMs)))} by hand, ${formatMilliseconds(boot(spawned))} spawned, goal ${goalMs} ms`,
    ratio: boot(forked) / goalMs,
    limit: { most: 1 },
  });
  report({
    what: 'its CPU, mean',
    ours: formatMilliseconds(cpu(forked)),
    reference: `${formatMilliseconds(mean(byHand.map(({ readyCpuMs }) => readyCpuMs)))} by hand, ${formatMilliseconds(cpu(spawned))} spawned, goal ${cpuGoalMs} ms`,
    ratio: cpu(forked) / cpuGoalMs,
    limit: { most: 1 },
  });
}

/** Measures the slowest of several simultaneous cold starts, from the request until its instance is ready. */
export async function measureConcurrentColdStarts({
  service,
  runs,
  byHandOptions,
  report,
}: VoiceBenchContext): Promise<void> {
  const ours: number[] = [];
  const byHand: number[] = [];
  for (let index = 0; index < runs; index++) {
    ours.push(Math.max(...(await startCold(service, forked, atOnce)).map(({ readyMs }) => readyMs)));
    const bots = await Promise.all(Array.from({ length: atOnce }, () => startStandaloneBot(byHandOptions)));
    await Promise.all(bots.map((bot) => bot.stop()));
    byHand.push(Math.max(...bots.map(({ readyMs }) => readyMs)));
  }
  report({
    what: `${atOnce} cold starts at once, the slowest, median`,
    ours: formatMilliseconds(median(ours)),
    reference: `${formatMilliseconds(median(byHand))} by hand, goal ${atOnceGoalMs} ms`,
    ratio: median(ours) / atOnceGoalMs,
    limit: { most: 1 },
  });
}

/**
 * Starts sessions over WebRTC without sending an offer, so that only the start is measured. Returns the start time and CPU time
 * of each instance, and stops the sessions.
 */
async function startCold(service: BenchmarkedService, agent: string, count: number): Promise<readonly ColdStart[]> {
  const sessions = await Promise.all(Array.from({ length: count }, () => startSession(service, agent, 'webrtc')));
  const instances = await listOpenInstances(service, agent);
  const starts = sessions.map(async ({ id }) => {
    const instance = instances.find(({ sessionId }) => sessionId === id);
    if (instance === undefined) throw new Error(`The session ${id} has no instance.`);
    const cpuMs = await readInstanceCpuMs(service, instance.id);
    const { claim, boot } = (await readRecord(service, agent, id)).startPhases;
    return { bootMs: boot, readyMs: claim + boot, cpuMs };
  });
  const measured = await Promise.all(starts);
  await Promise.all(sessions.map(({ id }) => stopSession(service, agent, id)));
  return measured;
}

/** Prints the start phases of a cold and of a warm session as docs/bots.md shows them. */
export async function printStartPhases({ service, log }: VoiceBenchContext): Promise<void> {
  for (const minAgents of [0, 1]) {
    await scaleAgent(service, forked, minAgents);
    const { id } = await startSession(service, forked, 'webrtc');
    const { coldStart, startPhases } = await readRecord(service, forked, id);
    const { claim, boot, dispatch } = startPhases;
    log(JSON.stringify({ coldStart, startPhases: { claim, boot, dispatch } }));
    await stopSession(service, forked, id);
  }
}

type SessionRecord = {
  readonly coldStart: boolean;
  readonly startPhases: { readonly claim: number; readonly boot: number; readonly dispatch: number };
};

async function readRecord(service: BenchmarkedService, agent: string, sessionId: string): Promise<SessionRecord> {
  const url = `${service.origin}/v1/agents/${agent}/sessions/${sessionId}`;
  const answer = await request(url, { headers: { authorization: `Bearer ${service.privateKey}` } });
  return (await answer.body.json()) as SessionRecord;
}
