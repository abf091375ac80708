import { readdir, readFile } from 'node:fs/promises';
import { formatMilliseconds } from '../figure.ts';
import { startParrot } from '../figures/warm-start.ts';
import { median, quantile } from '../quantile.ts';
import { waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';
import type { ApiServerProxy } from './cluster.ts';
import type { KubernetesBenchContext } from './kubernetes-bench.ts';
import { watchedAgent } from './requests.ts';

const goalMs = { connected: 500, interrupted: 2_000 } as const;

/**
 * Kills bots during their sessions. Measures how much later the service sees that than another watch of the same pods, which needs no
 * connection of the service. `interrupted`: the service has no connection to the API server until the other watch shows the end.
 */
export async function measureExits(
  { service, cluster, quick, report }: KubernetesBenchContext,
  proxy: ApiServerProxy,
): Promise<void> {
  const { name, minAgents } = watchedAgent;
  for (const state of ['connected', 'interrupted'] as const) {
    const [delays, shown]: [number[], number[]] = [[], []];
    for (let count = 0; count < (quick ? 3 : 50); count++) {
      await waitForWarmInstances(service, name, minAgents);
      const { sessionId } = await startParrot(service, name);
      const text = 'select id from instances where session_id = $1';
      const instanceId: string = (await service.database.query(text, [sessionId])).rows[0].id;
      if (state === 'interrupted') await proxy.stop();
      const killedAtMs = Date.now();
      await killBot(instanceId);
      const findEnd = async () => cluster.pods.get(instanceId)?.endedAtMs;
      const shownAtMs = await waitUntil('the exit of a pod', findEnd, { everyMs: 2 });
      if (state === 'interrupted') await proxy.start();
      const findLine = async () => findLoggedEnd(await service.output(), instanceId);
      const seenAtMs = await waitUntil('the exit in the log of the service', findLine);
      delays.push(Math.max(0, seenAtMs - shownAtMs));
      shown.push(shownAtMs - killedAtMs);
    }
    const p99 = quantile(delays, 0.99);
    report({
      what: `exit of a pod, seen by a ${state === 'connected' ? 'service' : 'service whose watch was cut'}, p99`,
      ours: `${formatMilliseconds(p99)} (p50 ${formatMilliseconds(median(delays))})`,
      reference: `${goalMs[state]} ms after another watch (which sees it ${formatMilliseconds(median(shown))} after the kill, median)`,
      ratio: p99 / goalMs[state],
      limit: { most: 1 },
    });
  }
}

/** Kills the process of a bot, which has the id of its instance in its environment. */
async function killBot(instanceId: string): Promise<void> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (environment.includes(`BOTHOST_INSTANCE=${instanceId}`)) process.kill(Number(name), 'SIGKILL');
  }
}

/** Returns the Unix time in milliseconds at which the service logged the end of an instance. */
function findLoggedEnd(log: string, instanceId: string): number | undefined {
  const line = log.split('\n').find((one) => one.includes('"instance ended"') && one.includes(instanceId));
  return line === undefined ? undefined : Date.parse((JSON.parse(line) as { readonly time: string }).time);
}
