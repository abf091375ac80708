import { setTimeout as delay } from 'node:timers/promises';
import { writeAgentDirectory } from '../agent-directory.ts';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { callApi } from '../call-api.ts';
import { deployProject } from '../deploy-project.ts';
import { type Benchmark, type BenchmarkOptions, formatMegabytes, formatMilliseconds } from '../figure.ts';
import { createHostedBotCallUrl, waitForIdleService } from '../first-second/calls.ts';
import {
  drainPool,
  listOpenInstances,
  readInstanceCpuMs,
  readInstanceMemoryBytes,
  scaleAgent,
  waitForForkServer,
} from '../first-second/instances.ts';
import { callBotByPhone } from '../first-second/phone-call.ts';
import { synthesizeSpeech } from '../first-second/speech.ts';
import { forked } from '../first-second/voice-bench.ts';
import { findInterpreter } from '../first-second/voice-bot.ts';
import { readCpuSeconds } from '../process-usage.ts';
import { packageIndexEnvironmentVariables, startBenchmarkProgram } from '../program.ts';
import { type Estimate, estimateMean, median } from '../quantile.ts';

/** Goals for the difference to the level `off`. The CPU is a share of one core. */
const cpuGoals = { transcript: 0.01, recording: 0.05 } as const;
const [responseGoalMs, memoryGoalBytes, coldStartGoalRatio] = [2, 3e6, 1.1];
/** How long a call lasts at least after its last response, so that the bot finishes speaking. */
const tailMs = 2_000;

type Level = 'off' | keyof typeof cpuGoals;
const recordedLevels = Object.keys(cpuGoals) as readonly (keyof typeof cpuGoals)[];
const levels: readonly Level[] = ['off', ...recordedLevels];

/** What one call used. The CPU is a share of one core, from the greeting to the end of the call. */
type CallUsage = {
  readonly botCpu: number;
  readonly serviceCpu: number;
  readonly responseMs: number;
  readonly memoryBytes: number;
};

/**
 * Measures what recording a conversation costs: phone calls to the same bot at each level, alternately, compared in pairs with
 * those at the level `off`. The log level is the same in all calls.
 */
export const conversationBench: Benchmark = {
  name: 'conversations',
  run: async (options) => {
    const vendors = await startBenchmarkProgram('stand-in-vendors', []);
    try {
      await withService({ agents: [], environment: packageIndexEnvironmentVariables }, async (service) => {
        const question = await deployBot(service, new URL(vendors.origin).host);
        await measureCalls(service, question, options);
      });
    } finally {
      await vendors.stop();
    }
  },
};

/** Deploys the bot, and makes it import in a first call what later calls use. Returns a spoken question. */
async function deployBot(service: BenchmarkedService, standIns: string): Promise<Buffer> {
  const secrets = [{ secretKey: 'PIPECAT_LOG_LEVEL', secretValue: 'DEBUG' }];
  await callApi(service, 'PUT', '/v1/secrets/logging', { secrets });
  const agent = {
    name: forked,
    bot: { voice: { standIns } },
    minAgents: 0,
    maxAgents: 2,
    secretSet: 'logging',
  } as const;
  await deployProject(service, await writeAgentDirectory(service.agentsDirectory, agent));
  const question = await synthesizeSpeech(
    await findInterpreter(service.dataDirectory),
    'What is the capital of France?',
  );
  await drainPool(service, forked);
  const first = await waitForForkServer(service, forked);
  await setLevel(service, levels.at(-1) ?? 'off');
  await scaleAgent(service, forked, 1);
  await measureCall(service, question, 1);
  await waitForForkServer(service, forked, first);
  return question;
}

async function measureCalls(
  service: BenchmarkedService,
  question: Buffer,
  { quick, log, report }: BenchmarkOptions,
): Promise<void> {
  const calls = new Map<Level, CallUsage[]>(levels.map((level) => [level, []]));
  const coldStarts = new Map<Level, number[]>(levels.map((level) => [level, []]));
  const rounds = quick ? 2 : 20;
  for (let round = 0; round < rounds; round++) {
    log(`round ${round + 1} of ${rounds}`);
    // Each other round in the opposite order, so that what changes slowly affects all levels in the same way.
    for (const level of round % 2 === 0 ? levels : [...levels].reverse()) {
      await setLevel(service, level);
      await scaleAgent(service, forked, 1);
      await waitForIdleService(service, 1);
      calls.get(level)?.push(await measureCall(service, question, quick ? 1 : 3));
      await drainPool(service, forked);
      await waitForIdleService(service, 0);
      coldStarts.get(level)?.push(await measureColdStart(service));
    }
  }
  for (const level of recordedLevels) {
    const pairs = (calls.get(level) ?? []).map((usage, index) => [usage, calls.get('off')?.[index]] as const);
    const compare = (read: (usage: CallUsage) => number): Estimate =>
      estimateMean(pairs.map(([usage, off]) => read(usage) - (off === undefined ? Number.NaN : read(off))));
    const off = (read: (usage: CallUsage) => number) => median((calls.get('off') ?? []).map(read));
    const [cpu, goal] = [compare(({ botCpu }) => botCpu), cpuGoals[level]];
    const response = compare(({ responseMs }) => responseMs);
    const memory = compare(({ memoryBytes }) => memoryBytes);
    const serviceCpu = compare((usage) => usage.serviceCpu);
    const [cold, coldOff] = [median(coldStarts.get(level) ?? []), median(coldStarts.get('off') ?? [])];
    report(
      {
        what: `a call at the level ${level}: CPU of the bot`,
        ours: `${formatEstimate(cpu, formatPercent)} of a core`,
        reference: `${formatPercent(off(({ botCpu }) => botCpu))} at off, goal +${formatPercent(goal)}`,
        ratio: cpu.mean / goal,
        limit: { most: 1 },
      },
      {
        what: `a call at the level ${level}: CPU of the service`,
        ours: `${formatEstimate(serviceCpu, formatPercent)} of a core`,
        reference: `${formatPercent(off((usage) => usage.serviceCpu))} at off`,
        ratio: null,
        limit: null,
      },
      {
        what: `a call at the level ${level}: response, as the caller hears it`,
        ours: formatEstimate(response, formatMilliseconds),
        reference: `${formatMilliseconds(off(({ responseMs }) => responseMs))} at off, goal +${formatMilliseconds(responseGoalMs)}`,
        ratio: response.mean / responseGoalMs,
        limit: { most: 1 },
      },
      {
        what: `a call at the level ${level}: memory of the bot`,
        ours: formatEstimate(memory, formatMegabytes),
        reference: `${formatMegabytes(off(({ memoryBytes }) => memoryBytes))} at off, goal +${formatMegabytes(memoryGoalBytes)}`,
        ratio: memory.mean / memoryGoalBytes,
        limit: { most: 1 },
      },
      {
        what: `a call at the level ${level} on a cold instance: first audio, median`,
        ours: formatMilliseconds(cold),
        reference: `${formatMilliseconds(coldOff)} at off`,
        ratio: cold / coldOff,
        limit: { most: coldStartGoalRatio },
      },
    );
  }
}

async function setLevel(service: BenchmarkedService, level: Level): Promise<void> {
  await callApi(service, 'POST', `/v1/agents/${forked}`, { conversation: { level } });
}

/** Calls a warm instance, and asks the question several times. */
async function measureCall(service: BenchmarkedService, question: Buffer, questions: number): Promise<CallUsage> {
  const call = await callBotByPhone(createHostedBotCallUrl(service));
  try {
    const instance = (await listOpenInstances(service, forked)).find(({ sessionId }) => sessionId !== null);
    if (instance === undefined) throw new Error('The call has no instance.');
    const begin = performance.now();
    const readCpu = async () => [
      await readInstanceCpuMs(service, instance.id),
      (await readCpuSeconds(service.pid)) * 1000,
    ];
    const [botBefore = 0, serviceBefore = 0] = await readCpu();
    const responses: number[] = [];
    for (let asked = 0; asked < questions; asked++) responses.push(await call.ask(question));
    await delay(tailMs);
    const [bot = 0, serviceCpu = 0] = await readCpu();
    const elapsedMs = performance.now() - begin;
    return {
      botCpu: (bot - botBefore) / elapsedMs,
      serviceCpu: (serviceCpu - serviceBefore) / elapsedMs,
      responseMs: median(responses),
      memoryBytes: await readInstanceMemoryBytes(service, instance.id),
    };
  } finally {
    await call.hangUp();
  }
}

/** Returns the milliseconds until the first audio of a call for which an instance starts. */
async function measureColdStart(service: BenchmarkedService): Promise<number> {
  const call = await callBotByPhone(createHostedBotCallUrl(service));
  await call.hangUp();
  return call.firstAudioMs;
}

const formatPercent = (share: number): string => `${(share * 100).toFixed(2)} %`;

function formatEstimate({ mean, low, high }: Estimate, format: (value: number) => string): string {
  return `${mean < 0 ? '' : '+'}${format(mean)} (95 %: ${format(low)} to ${format(high)})`;
}
