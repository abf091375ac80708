import { type ApiClient, createApiClient } from '@bothost/contract';
import { pino } from 'pino';
import { expect } from 'vitest';
import { importNodeImage, type PrivateEngine } from '../../../runtime/test/docker/private-engine.ts';
import { createVersionedBot, waitForSettledDeployment } from '../support/deploys.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

/** A service whose bots are containers of an engine. */
export type DockerService = TestServer & {
  /** Deploys an image, and returns the agent when the deployment serves or has failed. */
  readonly deploy: (
    agentName: string,
    image: string,
    pullSecret?: string | null,
    client?: ApiClient,
  ) => ReturnType<typeof waitForSettledDeployment>;
  /** Lines that the service logged. */
  readonly logLines: readonly string[];
  readonly countLogged: (message: string) => number;
};

export async function startDockerService(
  engine: Pick<PrivateEngine, 'host'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<DockerService> {
  const logLines: string[] = [];
  const service = await startTestServer({
    environment: { BOTHOST_RUNTIME: 'docker', BOTHOST_DOCKER_HOST: engine.host, ...environment },
    logger: pino({ level: 'debug' }, { write: (line) => void logLines.push(line) }),
  });
  const messages = () => logLines.map((line) => (JSON.parse(line) as { readonly msg?: string }).msg);
  return {
    ...service,
    logLines,
    countLogged: (message) => messages().filter((one) => one === message).length,
    deploy: async (agentName, image, pullSecret = null, client = service.client) => {
      const { agents } = await client.listAgents({ query: {} });
      const body = { image, imagePullSecretSet: pullSecret, autoScaling: { minAgents: 1, maxAgents: 5 } };
      if (agents.some(({ name }) => name === agentName))
        await client.updateAgent({ params: { agentName }, body: { ...body, forceRedeploy: true } });
      else await client.createAgent({ body: { serviceName: agentName, ...body } });
      return waitForSettledDeployment({ client }, agentName);
    },
  };
}

/** Makes an image of a bot that returns its version at `/version` and ends its session at `/end?status=200`. */
export const importVersionedBot = (engine: PrivateEngine, name: string, version: string): Promise<string> =>
  importNodeImage(engine, name, createVersionedBot(version), 'main.js');

export const clientOf = (service: TestServer, organization: { readonly privateKey: string }): ApiClient =>
  createApiClient({ origin: service.url, key: organization.privateKey });

/** Sends a request to the bot of a session, and expects this response. */
export async function expectVersion(
  service: Pick<TestServer, 'url' | 'publicKey'>,
  agentName: string,
  sessionId: string,
  version: string,
) {
  const url = `${service.url}/v1/public/${agentName}/sessions/${sessionId}/version`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${service.publicKey}` } });
  expect(await response.text()).toBe(version);
}
