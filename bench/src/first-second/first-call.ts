import { request } from 'undici';
import { formatMilliseconds } from '../figure.ts';
import { median } from '../quantile.ts';
import type { BenchmarkedService } from '../service.ts';
import { waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';
import { callOnce, createHostedBotCallUrl, waitForIdleService } from './calls.ts';
import { drainPool, isForkedInstance, listOpenInstances } from './instances.ts';
import { forked, type VoiceBenchContext } from './voice-bench.ts';

/** The fork server of a new deployment has not yet imported the modules that the first call imports. */
const allowedRatio = 1.2;

/**
 * Creates an agent from the latest build, and returns when the instance that validated the deployment is ready. The instances
 * are forked from a process that has imported the bot, unless `fork` is false.
 */
export async function createAgentFromBuild(
  service: BenchmarkedService,
  serviceName: string,
  { fork }: { readonly fork: boolean },
): Promise<void> {
  const headers = { authorization: `Bearer ${service.privateKey}`, 'content-type': 'application/json' };
  const builds = await request(`${service.origin}/v1/builds?limit=1`, { headers });
  const [build] = ((await builds.body.json()) as { readonly builds: readonly { readonly id: string }[] }).builds;
  const body = JSON.stringify({ serviceName, buildId: build?.id, fork, websocketAuth: 'none' });
  const created = await request(`${service.origin}/v1/agents`, { method: 'POST', headers, body });
  if (created.statusCode !== 200) throw new Error(`The agent was not created: ${await created.body.text()}`);
  await created.body.dump();
  await waitForWarmInstances(service, serviceName, 1);
}

/**
 * Measures the first call after a deploy. A spawned instance validates the deployment; the service then replaces it by a forked
 * one, which takes the call. The reference is a call that waits for a forked instance to start.
 */
export async function measureFirstCallAfterDeploy({ service, runs, report }: VoiceBenchContext): Promise<void> {
  const first: number[] = [];
  const cold: number[] = [];
  for (let index = 0; index < runs; index++) {
    const agent = `deployed-${index}`;
    await createAgentFromBuild(service, agent, { fork: true });
    await waitUntil(`a forked instance of ${agent}`, async () => {
      const [instance] = await listOpenInstances(service, agent);
      return instance !== undefined && (await isForkedInstance(service, instance.id)) ? true : undefined;
    });
    first.push(await callOnce(createHostedBotCallUrl(service, agent)));
    await deleteAgent(service, agent);
    await drainPool(service, forked);
    await waitForIdleService(service, 0);
    cold.push(await callOnce(createHostedBotCallUrl(service)));
  }
  report({
    what: 'phone, first call after a deploy, open to first audio, median',
    ours: formatMilliseconds(median(first)),
    reference: `${formatMilliseconds(median(cold))} on a forked instance that starts for the call`,
    ratio: median(first) / median(cold),
    limit: { most: allowedRatio },
  });
}

async function deleteAgent(service: BenchmarkedService, agent: string): Promise<void> {
  const answer = await request(`${service.origin}/v1/agents/${agent}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${service.privateKey}` },
  });
  if (answer.statusCode !== 200) throw new Error(`The agent was not deleted: ${await answer.body.text()}`);
  await answer.body.dump();
}
