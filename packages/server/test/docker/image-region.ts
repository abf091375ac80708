import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import {
  type AgentSettings,
  type ApiClient,
  createApiClient,
  type DeploymentDetails,
  type SessionResponse,
} from '@bothost/contract';
import { expect } from 'vitest';
import { buildImage, runDocker } from '../../../runtime/test/docker/engine.ts';
import { writeBot } from '../support/bots.ts';
import { waitForSettledDeployment } from '../support/deploys.ts';
import { createRegistryFolder, startDockerRegistry, writePasswordFile } from '../support/docker-registry.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service-process.ts';

const program = fileURLToPath(new URL('../../bin/bothost', import.meta.url));
const [user, password] = ['robot', 'of-this-test'];
/** Name of the image pull secret of the registry. */
const pullSecret = 'registry';

/** Milliseconds until a deployment serves or has failed, which includes the pull of its image. */
const settleMs = 120_000;

const nodeDockerfile = `ARG BASE\nFROM \${BASE}\nWORKDIR /app\nCOPY . .\nCMD ["node", "main.js"]\n`;

/** The service on the Docker engine of this machine, with a private registry. */
export type ImageRegion = {
  readonly url: string;
  readonly organization: string;
  readonly publicKey: string;
  readonly client: ApiClient;
  readonly publicClient: ApiClient;
  readonly service: ServiceProcess;
  /** Builds the image of a bot that evaluates JavaScript (`bots.ts`), pushes it, removes it from the engine, and returns its name. */
  readonly pushBot: (name: string, prelude?: string) => Promise<string>;
  /** Creates an agent, or deploys it again, and waits until the deployment serves. Fails if it does not. */
  readonly deploy: (agentName: string, settings: AgentSettings) => Promise<DeploymentDetails>;
  readonly rollBack: (agentName: string) => Promise<DeploymentDetails>;
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  /** Starts the service again. `changes` are environment variables of the new process. */
  readonly start: (changes?: Readonly<Record<string, string>>) => Promise<void>;
  /** Ends the service, and removes its files and the registry. */
  readonly close: () => Promise<void>;
};

export async function openImageRegion(): Promise<ImageRegion> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-images-'));
  // The embedded database runs under another account, which must be able to enter this directory.
  await chmod(directory, 0o711);
  const folder = await createRegistryFolder();
  const auth = { htpasswd: { realm: 'test', path: await writePasswordFile(folder, user, password) } };
  const registry = await startDockerRegistry(folder, auth, false);
  const host = `127.0.0.1:${registry.port}`;
  const login = { auths: { [host]: { auth: Buffer.from(`${user}:${password}`).toString('base64') } } };
  await writeFile(join(directory, 'config.json'), JSON.stringify(login));
  const service = createServiceProcess({
    directory,
    port: await findFreePort(),
    command: `exec ${program}`,
    environment: {
      PATH: `${dirname(execPath)}:/usr/bin:/bin`,
      BOTHOST_RUNTIME: 'docker',
      BOTHOST_REGISTRIES: `http://${host}`,
      BOTHOST_LOCAL_IMAGES: 'true',
    },
  });
  const { url, organization, publicKey, privateKey } = service;
  const client = createApiClient({ origin: url, key: privateKey });
  const start = async (changes: Readonly<Record<string, string>> = {}) => {
    await service.start(changes).ready;
    if (service.current().readyAt() === null) throw new Error(`The service did not start. See ${service.logFile}.`);
  };
  await start();
  const secretValue = Buffer.from(`${user}:${password}`).toString('base64');
  await client.putSecrets({
    params: { setName: pullSecret },
    body: { isImagePullSecret: true, host: `http://${host}`, secretValue },
  });
  const agents = new Set<string>();
  const settle = async (agentName: string) => {
    const { desiredDeploymentId: deploymentId, errors } = await waitForSettledDeployment(
      { client },
      agentName,
      settleMs,
    );
    expect(errors).toEqual([]);
    return client.getDeployment({ params: { agentName, deploymentId } });
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    service.current().signal(signal);
    await service.current().exited;
  };
  return {
    url,
    organization,
    publicKey,
    client,
    publicClient: createApiClient({ origin: url, key: publicKey }),
    service,
    pushBot: async (name, prelude = '') => {
      const image = `${host}/${name}:1`;
      const bot = await writeBot(name, { prelude });
      try {
        await writeFile(join(bot.path, 'Dockerfile'), nodeDockerfile);
        await buildImage(image, bot.path);
        await runDocker('--config', directory, 'push', '-q', image);
        // The service must pull the image.
        await runDocker('rmi', image);
        return image;
      } finally {
        await bot.remove();
      }
    },
    deploy: async (agentName, settings) => {
      const body = { imagePullSecretSet: pullSecret, ...settings };
      if (agents.has(agentName)) await client.updateAgent({ params: { agentName }, body });
      else await client.createAgent({ body: { serviceName: agentName, ...body } });
      agents.add(agentName);
      return settle(agentName);
    },
    rollBack: async (agentName) => {
      await client.rollback({ params: { agentName }, body: {} });
      return settle(agentName);
    },
    end,
    start,
    close: async () => {
      await end('SIGTERM');
      await registry.close();
      await folder.remove();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the id of the container of an agent's only instance. */
export async function findContainer(region: ImageRegion, agentName: string): Promise<string> {
  const { id } = await region.client.getAgent({ params: { agentName } });
  return runDocker('ps', '-aq', '--filter', `label=bothost.agent=${id}`);
}

/** Waits until no instance of an agent has a container. */
export async function waitUntilRemoved(region: ImageRegion, agentName: string): Promise<void> {
  await expect.poll(() => findContainer(region, agentName)).toBe('');
}

export async function findLatestSession(region: ImageRegion, agentName: string): Promise<string> {
  const { sessions } = await region.client.getSessions({ params: { agentName }, query: { limit: 1 } });
  return sessions[0]?.sessionId ?? '';
}

/** Returns the time from the start of a session's bot to its end. */
export function getSessionLengthMs(session: SessionResponse): number {
  const startedAtMs = Date.parse(session.createdAt) + (session.botStartMilliseconds ?? Number.NaN);
  return Date.parse(session.endedAt ?? '') - startedAtMs;
}
