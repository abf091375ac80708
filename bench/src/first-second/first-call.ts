import type { BenchmarkedService } from '../benchmarked-service.ts';
import { callApi } from '../call-api.ts';
import { formatMilliseconds } from '../figure.ts';
import { median } from '../quantile.ts';
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
  const found = await callApi(service, 'GET', '/v1/builds?limit=1');
  const [build] = (found as { readonly builds: readonly { readonly id: string }[] }).builds;
  await callApi(service, 'POST', '/v1/agents', { serviceName, buildId: build?.id, fork, websocketAuth: 'none' });
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
    await callApi(service, 'DELETE', `/v1/agents/${agent}`);
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
