import type { BenchmarkedService } from '../benchmarked-service.ts';
import { formatMilliseconds } from '../figure.ts';
import { startParrot } from '../figures/warm-start.ts';
import { stopSession, waitForWarmInstances } from '../sessions.ts';
import { countColdStarts, type KubernetesBenchContext } from './kubernetes-bench.ts';
import { steadyAgent } from './warm-pools.ts';

const goalMs = 3_000;

/** Kills the service during a session, and starts another session as soon as the next process accepts requests. */
export async function measureRestarts({ service, quick, report }: KubernetesBenchContext): Promise<void> {
  const { name, minAgents } = steadyAgent;
  const restarts = quick ? 1 : 5;
  const [times, first]: [number[], { readonly sessionId: string }[]] = [[], []];
  let continued = 0;
  for (let count = 0; count < restarts; count++) {
    await waitForWarmInstances(service, name, minAgents);
    const { sessionId } = await startParrot(service, name);
    const readyMs = await service.restart();
    const next = await startParrot(service, name);
    times.push(readyMs + next.startMs);
    first.push(next);
    if (await isConnected(service, sessionId)) continued += 1;
    for (const id of [sessionId, next.sessionId]) await stopSession(service, name, id);
  }
  const warm = restarts - (await countColdStarts(service, first));
  report(
    {
      what: 'start of a killed service until a warm start of a pod, slowest',
      ours: `${formatMilliseconds(Math.max(...times))}, ${warm} of ${restarts} warm`,
      reference: `${goalMs} ms`,
      ratio: warm === restarts ? Math.max(...times) / goalMs : null,
      limit: { most: 1 },
    },
    {
      what: 'sessions in pods that continue after a kill of the service',
      ours: `${continued} of ${restarts}`,
      reference: `${restarts}`,
      ratio: continued / restarts,
      limit: { least: 1 },
    },
  );
}

/** Whether a request through the service reaches the bot that has the session. */
async function isConnected({ origin, publicKey }: BenchmarkedService, sessionId: string): Promise<boolean> {
  const url = `${origin}/v1/public/${steadyAgent.name}/sessions/${sessionId}/hello`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${publicKey}` } });
  return response.ok && ((await response.json()) as { readonly sessionId: string }).sessionId === sessionId;
}
