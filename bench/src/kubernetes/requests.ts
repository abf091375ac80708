import { setTimeout as delay } from 'node:timers/promises';
import { measureStart } from '../figures/warm-start.ts';
import { benchmarkAbortController } from '../interruption.ts';
import { waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';
import type { ApiServerProxy } from './cluster.ts';
import type { KubernetesBenchContext } from './kubernetes-bench.ts';

/** An agent of a service whose requests are recorded. */
export const watchedAgent = { name: 'watched', minAgents: 2 } as const;
const maxWritesPerSession = 6;

/** Counts what the service requests of the API server, for sessions and while it is idle. */
export async function measureRequests(
  { service, cluster, quick, report }: KubernetesBenchContext,
  { requests }: ApiServerProxy,
): Promise<void> {
  const { name, minAgents } = watchedAgent;
  const settle = async () => {
    await waitForWarmInstances(service, name, minAgents);
    await waitUntil('the removal of pods', async () => (cluster.pods.size === minAgents ? true : undefined));
  };
  await settle();
  let from = requests.length;
  const sessions = quick ? 3 : 20;
  for (let count = 0; count < sessions; count++) {
    await measureStart(service, name);
    await settle();
  }
  const writes = requests.slice(from).filter(({ method }) => method !== 'GET').length / sessions;
  report({
    what: 'API requests that write, of a session with its pod',
    ours: writes.toFixed(1),
    reference: `${maxWritesPerSession}`,
    ratio: writes / maxWritesPerSession,
    limit: { most: 1 },
  });
  from = requests.length;
  const seconds = quick ? 20 : 600;
  await delay(seconds * 1000, undefined, { signal: benchmarkAbortController.signal });
  const lists = requests.slice(from).filter(isList).length;
  report({
    what: `API requests that list, of a service that is idle for ${seconds} s`,
    ours: `${lists}`,
    reference: '0',
    ratio: lists,
    limit: { most: 0 },
  });
}

const isList = ({ method, path, query }: ApiServerProxy['requests'][number]) =>
  method === 'GET' && /\/(?:pods|secrets)$/.test(path) && !query.has('watch');
