import type { BenchmarkedService } from './benchmarked-service.ts';
import { callApi } from './call-api.ts';
import { waitForWarmInstances } from './sessions.ts';

type Settings = {
  readonly serviceName: string;
  readonly image: string;
  readonly minAgents: number;
  readonly maxAgents?: number;
  readonly agentProfile?: 'agent-3x';
};

/**
 * Deploys an image as a new agent that anybody may call by WebSocket, and waits until its instances are ready, of which there is at
 * least one.
 */
export async function deployImage(service: BenchmarkedService, settings: Settings): Promise<void> {
  const { serviceName, minAgents, maxAgents = minAgents + 10, ...others } = settings;
  const autoScaling = { minAgents, maxAgents };
  await callApi(service, 'POST', '/v1/agents', { serviceName, ...others, websocketAuth: 'none', autoScaling });
  await waitForWarmInstances(service, serviceName, Math.max(minAgents, 1));
}
