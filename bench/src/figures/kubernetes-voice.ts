import { setTimeout as delay } from 'node:timers/promises';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { deployImage } from '../deploy-image.ts';
import { type Benchmark, type BenchmarkOptions, formatMilliseconds } from '../figure.ts';
import { createHostedBotCallUrl, webTarget } from '../first-second/calls.ts';
import { callBotByPhone } from '../first-second/phone-call.ts';
import { synthesizeSpeech } from '../first-second/speech.ts';
import { startWebCaller, type WebCallTiming } from '../first-second/web-caller.ts';
import { findClusterProblem, withCluster } from '../kubernetes/cluster.ts';
import { findBaseImage, voiceImages, withVoiceImages } from '../kubernetes/voice-images.ts';
import { interquartileRange, median } from '../quantile.ts';
import { waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';

const dockerEnvironment = { BOTHOST_RUNTIME: 'docker', BOTHOST_LOCAL_IMAGES: 'true' };
/** The median response in a pod may be this much later than in a container. */
const allowanceMs = 50;
const restMs = 1_000;

type Places = { readonly docker: BenchmarkedService; readonly kubernetes: BenchmarkedService };
type Caller = {
  readonly byPhone: (service: BenchmarkedService, questions: number) => Promise<readonly number[]>;
  readonly byWeb: (service: BenchmarkedService, questions: number) => Promise<WebCallTiming>;
};

/**
 * Calls the bots that `botcli init` generates, in pods and in containers of the same images. Measures how soon the caller hears the
 * answer to a question, and whether calls to pods continue while the service restarts. Stand-ins of the vendors run beside the bot.
 */
export const kubernetesVoiceBench: Benchmark = {
  name: 'kubernetes-voice',
  run: async (options) => {
    const problem = await findClusterProblem();
    if (problem !== null) return options.log(`not measured: ${problem}`);
    const base = await findBaseImage();
    if (base === undefined) return options.log('not measured: npm run test:docker has not made its base image yet');
    await withVoiceImages(base, (interpreter) =>
      withCluster(Object.values(voiceImages), (cluster) =>
        withService({ agents: [], environment: dockerEnvironment }, (docker) =>
          withService({ agents: [], environment: cluster.environment }, async (kubernetes) => {
            const places = { docker, kubernetes };
            for (const service of Object.values(places)) await deployBots(service);
            const question = await synthesizeSpeech(interpreter, 'What is the capital of France?');
            const web = startWebCaller(interpreter);
            const caller: Caller = {
              byPhone: (service, questions) => askByPhone(service, question, questions),
              byWeb: (service, count) =>
                web.call({ ...targetOf(service), question: question.toString('base64'), count }),
            };
            try {
              await measureResponses(places, caller, options);
              await measureRestarts(places, caller, options);
            } finally {
              await web.stop();
            }
          }),
        ),
      ),
    );
  },
};

/** An agent has one instance at most, so that no bot is imported during a call. */
async function deployBots(service: BenchmarkedService): Promise<void> {
  for (const [serviceName, image] of Object.entries(voiceImages))
    await deployImage(service, { serviceName, image, minAgents: 1, maxAgents: 1, agentProfile: 'agent-3x' });
}

const targetOf = ({ origin, publicKey }: BenchmarkedService) =>
  webTarget(`${origin}/v1/public/quickstart`, { authorization: `Bearer ${publicKey}` });

async function askByPhone(service: BenchmarkedService, question: Buffer, count: number): Promise<readonly number[]> {
  const call = await callBotByPhone(createHostedBotCallUrl(service, 'phone'));
  const times: number[] = [];
  try {
    while (times.length < count) times.push(await call.ask(question));
  } finally {
    await call.hangUp();
  }
  return times;
}

async function measureResponses(places: Places, caller: Caller, { quick, log, report }: BenchmarkOptions) {
  const [rounds, questions] = quick ? [1, 1] : [5, 5];
  const calls = {
    'phone call': caller.byPhone,
    'WebRTC call': async (service: BenchmarkedService, count: number) =>
      (await caller.byWeb(service, count)).responsesMs,
  };
  for (const [kind, call] of Object.entries(calls)) {
    const times = { docker: [] as number[], kubernetes: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      for (const place of ['docker', 'kubernetes'] as const) {
        await waitUntilIdle(places);
        times[place].push(...(await call(places[place], questions)));
      }
      log(`${kind}: ${round + 1} of ${rounds}`);
    }
    const describe = (values: readonly number[]) =>
      `${formatMilliseconds(median(values))} (interquartile range ${formatMilliseconds(interquartileRange(values))})`;
    report({
      what: `${kind} to a bot in a pod: response, as the caller hears it, median`,
      ours: describe(times.kubernetes),
      reference: `${describe(times.docker)} in a container, and ${allowanceMs} ms`,
      ratio: median(times.kubernetes) / (median(times.docker) + allowanceMs),
      limit: { most: 1 },
    });
  }
}

/** Kills the service during calls. The references are calls during which nothing happens. */
async function measureRestarts(places: Places, caller: Caller, { quick, report }: BenchmarkOptions): Promise<void> {
  const { kubernetes } = places;
  const [calls, questions] = quick ? [1, 2] : [5, 3];
  const pauses = { killed: [] as number[], undisturbed: [] as number[] };
  for (let count = 0; count < calls; count++) {
    await waitUntilIdle(places);
    pauses.undisturbed.push((await caller.byWeb(kubernetes, questions)).longestPauseMs);
    await waitUntilIdle(places);
    const call = caller.byWeb(kubernetes, questions).catch(() => null);
    await waitForConnection(kubernetes);
    await kubernetes.restart();
    const timing = await call;
    if (timing !== null) pauses.killed.push(timing.longestPauseMs);
  }
  report({
    what: 'WebRTC calls to pods that continue after a kill of the service',
    ours: `${pauses.killed.length} of ${calls}, longest pause ${formatMilliseconds(Math.max(...pauses.killed))}`,
    reference: `${calls}, longest pause ${formatMilliseconds(Math.max(...pauses.undisturbed))} without a kill`,
    ratio: pauses.killed.length / calls,
    limit: { least: 1 },
  });
}

async function waitForConnection({ database }: BenchmarkedService): Promise<void> {
  const text = `select from sessions where state = 'live' and transport = 'webrtc' and transport_connected_at is not null`;
  await waitUntil('a WebRTC connection', async () => (await database.query(text)).rowCount || undefined);
}

/** Waits until former bots have ended and the next ones are ready. */
async function waitUntilIdle(places: Places): Promise<void> {
  for (const service of Object.values(places))
    for (const agent of Object.keys(voiceImages)) await waitForWarmInstances(service, agent, 1);
  await delay(restMs);
}
