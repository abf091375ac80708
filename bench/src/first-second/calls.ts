import { setTimeout as delay } from 'node:timers/promises';
import type { BenchmarkedService } from '../benchmarked-service.ts';
import { type BenchmarkFigure, formatMilliseconds } from '../figure.ts';
import { interquartileRange, median } from '../quantile.ts';
import { waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';
import type { StandaloneBot } from './by-hand.ts';
import { listOpenInstances, scaleAgent } from './instances.ts';
import { callBotByPhone } from './phone-call.ts';
import { forked, type VoiceBenchContext } from './voice-bench.ts';
import type { WebCallTarget, WebCallTiming } from './web-caller.ts';

/**
 * Compares the median times of calls to a bot through the service and of direct calls to a bot that was started by hand.
 * Through the service, the median may be higher by this many milliseconds plus the interquartile range of the direct calls.
 */
const allowanceMs = 50;
/** Milliseconds to wait after a call, so that the bot that was started by hand can end its pipelines. */
const restMs = 500;
const atOnce = 10;
const oneWarmGoalMs = 1500;
const refillRatio = 1.2;

export const createHostedBotCallUrl = (service: BenchmarkedService, agent: string = forked) =>
  `${service.origin.replace('http', 'ws')}/ws/exotel/${agent}.bench`;
export const createStandaloneBotCallUrl = ({ origin }: StandaloneBot) => `${origin.replace('http', 'ws')}/ws`;

/**
 * Measures one call after the other to a warm instance, alternating with calls to a bot that was started by hand. Calls are
 * made over WebRTC and by phone.
 */
export async function measureSequentialCalls(bench: VoiceBenchContext): Promise<void> {
  const { service, byHand, runs, report } = bench;
  const web = webTarget(`${service.origin}/v1/public/${forked}`, { authorization: `Bearer ${service.publicKey}` });
  const webByHand = webTarget(byHand.origin, {});
  const [webCalls, webCallsByHand]: [WebCallTiming[], WebCallTiming[]] = [[], []];
  const [phoneCalls, phoneCallsByHand]: [number[], number[]] = [[], []];
  await scaleAgent(service, forked, 1);
  for (let index = 0; index < runs; index++) {
    await waitForIdleService(service, 1);
    webCalls.push(await bench.webCaller.call(web));
    await waitForIdleService(service, 1);
    webCallsByHand.push(await bench.webCaller.call(webByHand));
    await waitForIdleService(service, 1);
    phoneCalls.push(await callOnce(createHostedBotCallUrl(service)));
    await waitForIdleService(service, 1);
    phoneCallsByHand.push(await callOnce(createStandaloneBotCallUrl(byHand)));
  }
  const connected = (calls: readonly WebCallTiming[]) => calls.map(({ connectedMs }) => connectedMs);
  const firstAudio = (calls: readonly WebCallTiming[]) => calls.map(({ firstAudioMs }) => firstAudioMs);
  report(compare('WebRTC, click to connected, warm agent-1x, median', connected(webCalls), connected(webCallsByHand)));
  report(
    compare('WebRTC, click to first audio, warm agent-1x, median', firstAudio(webCalls), firstAudio(webCallsByHand)),
  );
  report(compare('phone, open to first audio, warm agent-1x, median', phoneCalls, phoneCallsByHand));
}

/** Measures simultaneous calls while only one instance is warm; the instances for the other calls start during the calls. */
export async function measureCallBurst({ service, byHand, runs, report }: VoiceBenchContext): Promise<void> {
  const [ours, reference]: [number[], number[]] = [[], []];
  for (let index = 0; index < runs; index++) {
    await waitForIdleService(service, 1);
    ours.push(...(await callAtOnce(createHostedBotCallUrl(service))));
    await waitForIdleService(service, 1);
    reference.push(...(await callAtOnce(createStandaloneBotCallUrl(byHand))));
  }
  report({
    what: `${atOnce} phone calls at once on one warm instance: answered`,
    ours: `${ours.length} of ${atOnce * runs}`,
    reference: `${reference.length} of ${atOnce * runs} by hand`,
    ratio: ours.length / (atOnce * runs),
    limit: { least: 1 },
  });
  report({
    what: 'their first audio, median',
    ours: `${formatMilliseconds(median(ours))}, slowest ${formatMilliseconds(Math.max(...ours))}`,
    reference: `${formatMilliseconds(median(reference))} by hand, goal ${oneWarmGoalMs} ms`,
    ratio: median(ours) / oneWarmGoalMs,
    limit: { most: 1 },
  });
}

/**
 * Measures simultaneous calls while each call has its own warm instance. The service starts replacements for the used instances
 * during the calls. Compares this with calls during which `max_agents` prevents replacements.
 */
export async function measureWarmPoolRefill({ service, byHand, runs, report }: VoiceBenchContext): Promise<void> {
  const [ours, without, reference]: [number[], number[], number[]] = [[], [], []];
  for (let index = 0; index < runs; index++) {
    for (const [calls, maxAgents] of [
      [ours, 50],
      [without, atOnce],
    ] as const) {
      await scaleAgent(service, forked, atOnce, maxAgents);
      await waitForIdleService(service, atOnce);
      calls.push(...(await callAtOnce(createHostedBotCallUrl(service))));
    }
    await waitForIdleService(service, atOnce);
    reference.push(...(await callAtOnce(createStandaloneBotCallUrl(byHand))));
  }
  const summarize = (name: string, statistic: (values: readonly number[]) => number): BenchmarkFigure => ({
    what: `${atOnce} phone calls at once on ${atOnce} warm instances, with refill: first audio, ${name}`,
    ours: formatMilliseconds(statistic(ours)),
    reference: `${formatMilliseconds(statistic(without))} without refill, ${formatMilliseconds(statistic(reference))} by hand`,
    ratio: statistic(ours) / statistic(without),
    limit: { most: refillRatio },
  });
  report(summarize('median', median));
  report(summarize('slowest', (values) => Math.max(...values)));
}

export function webTarget(base: string, headers: WebCallTarget['headers']): WebCallTarget {
  return { start: `${base}/start`, offer: `${base}/sessions/SESSION_ID/api/offer`, headers };
}

/** Makes one phone call. Returns the milliseconds until its first audio. */
export async function callOnce(url: string): Promise<number> {
  const call = await callBotByPhone(url);
  await call.hangUp();
  return call.firstAudioMs;
}

/** Returns the times until the first audio of all calls that were answered. */
async function callAtOnce(url: string): Promise<readonly number[]> {
  const calls = await Promise.allSettled(Array.from({ length: atOnce }, () => callBotByPhone(url)));
  const answered = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
  await Promise.all(answered.map((call) => call.hangUp()));
  return answered.map(({ firstAudioMs }) => firstAudioMs);
}

/**
 * Waits until earlier sessions of the service have ended and at least `warm` warm instances are ready. Then waits for `restMs`,
 * so that the bot that was started by hand can end its sessions too.
 */
export async function waitForIdleService(service: BenchmarkedService, warm: number): Promise<void> {
  await waitUntil('the end of former sessions', async () =>
    (await listOpenInstances(service, forked)).every(({ sessionId }) => sessionId === null) ? true : undefined,
  );
  await waitForWarmInstances(service, forked, warm);
  await delay(restMs);
}

function compare(what: string, ours: readonly number[], byHand: readonly number[]): BenchmarkFigure {
  const range = interquartileRange(byHand);
  return {
    what,
    ours: formatMilliseconds(median(ours)),
    reference: `${formatMilliseconds(median(byHand))} by hand, and ${allowanceMs} ms and its interquartile range, ${formatMilliseconds(range)}`,
    ratio: median(ours) / (median(byHand) + allowanceMs + range),
    limit: { most: 1 },
  };
}
