import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
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
import { expect, vi } from 'vitest';
import { buildImage, runDocker } from '../../../runtime/test/docker/engine.ts';
import type { Teardown } from '../../src/composition/teardown.ts';
import { writeBot } from '../support/bots.ts';
import { waitForSettledDeployment } from '../support/deploys.ts';
import { createRegistryFolder, startDockerRegistry, writePasswordFile } from '../support/docker-registry.ts';
import { findFreePort } from '../support/free-port.ts';
import { runSetUp } from '../support/run-set-up.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service-process.ts';

const program = fileURLToPath(new URL('../../bin/bothost', import.meta.url));
const [user, password] = ['robot', 'of-this-test'];
/** Name of the image pull secret of the registry. */
const pullSecret = 'registry';

/** Milliseconds until a deployment serves or has failed, which includes the pull of its image. */
const settleMs = 120_000;

const nodeDockerfile = `ARG BASE\nFROM \${BASE}\nWORKDIR /app\nCOPY . .\nCMD ["node", "main.js"]\n`;

/** Where the bots of a region run: on a Docker engine or in a Kubernetes cluster. */
export type BotPlatform = {
  /** Environment variables of the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Registries on private addresses from which images without a pull secret come. */
  readonly registries: readonly string[];
  /** Lets the platform pull from a registry of this machine, which has no TLS. */
  readonly acceptRegistry: (host: string) => Promise<void>;
  /** Makes an image of this machine's Docker engine available without a pull secret, and returns its reference for a deploy. */
  readonly publishImage: (name: string) => Promise<string>;
  /** Whether the service reads the conversations that bots record in files. */
  readonly readsConversations: boolean;
  /** Whether a bot that was asked to exit can be killed before the time that it got for this has passed. */
  readonly shortensGracePeriods: boolean;
  /** Returns the container or pod of an agent's only instance. Empty if there is none. */
  readonly findBot: (agentId: string) => Promise<string>;
  /** Runs a command in a container or pod, and returns its standard output. */
  readonly runInBot: (bot: string, ...command: readonly string[]) => Promise<string>;
  /** What a service left behind after its end. */
  readonly listRemains: (hostId: string) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

/** The service with its bots on a platform, and a private registry. */
export type ImageRegion = {
  readonly platform: BotPlatform;
  readonly url: string;
  readonly organization: string;
  readonly publicKey: string;
  readonly client: ApiClient;
  readonly publicClient: ApiClient;
  readonly service: ServiceProcess;
  /**
   * Builds the image of a bot that evaluates JavaScript (`bots.ts`), pushes it to the private registry, removes it from the engine,
   * and returns its name.
   */
  readonly pushBot: (name: string, prelude?: string) => Promise<string>;
  /** Creates an agent, or deploys it again, and waits until the deployment serves. Fails if it does not. */
  readonly deploy: (agentName: string, settings: AgentSettings) => Promise<DeploymentDetails>;
  readonly rollBack: (agentName: string) => Promise<DeploymentDetails>;
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  /** Starts the service again. `changes` are environment variables of the new process. */
  readonly start: (changes?: Readonly<Record<string, string>>) => Promise<void>;
  /** Ends the service, expects that it leaves nothing on the platform, and closes the platform and the registry. */
  readonly close: () => Promise<void>;
};

/** Closes the platform if it fails. */
export function openImageRegion(platform: BotPlatform): Promise<ImageRegion> {
  return runSetUp((teardown) => startRegion(platform, teardown));
}

async function startRegion(platform: BotPlatform, teardown: Teardown): Promise<ImageRegion> {
  teardown.add(platform.close);
  const directory = await mkdtemp(join(tmpdir(), 'bothost-images-'));
  teardown.add(() => rm(directory, { recursive: true, force: true }));
  // The embedded database runs under another account, which must be able to enter this directory.
  await chmod(directory, 0o711);
  const folder = await createRegistryFolder();
  teardown.add(folder.remove);
  const auth = { htpasswd: { realm: 'test', path: await writePasswordFile(folder, user, password) } };
  const registry = await startDockerRegistry(folder, auth, false);
  teardown.add(registry.close);
  const host = `127.0.0.1:${registry.port}`;
  const login = { auths: { [host]: { auth: Buffer.from(`${user}:${password}`).toString('base64') } } };
  await writeFile(join(directory, 'config.json'), JSON.stringify(login));
  const service = createServiceProcess({
    directory,
    port: await findFreePort(),
    command: `exec ${program}`,
    environment: {
      PATH: `${dirname(execPath)}:/usr/bin:/bin`,
      BOTHOST_REGISTRIES: [host, ...platform.registries].map((one) => `http://${one}`).join(','),
      ...platform.environment,
    },
  });
  const { url, organization, publicKey, privateKey } = service;
  const client = createApiClient({ origin: url, key: privateKey });
  const start = async (changes: Readonly<Record<string, string>> = {}) => {
    await service.start(changes).ready;
    if (service.current().readyAt() === null)
      throw new Error(`The service did not start: ${await readFile(service.logFile, 'utf8')}`);
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    service.current().signal(signal);
    await service.current().exited;
  };
  await platform.acceptRegistry(host);
  teardown.addForFailedStart(() => end('SIGTERM'));
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
  return {
    platform,
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
        // The image must be pulled.
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
      try {
        await end('SIGTERM');
        const hostId = (await readFile(join(service.dataDirectory, 'id'), 'utf8')).trim();
        const requireNothing = async () => expect(await platform.listRemains(hostId)).toEqual([]);
        await vi.waitFor(requireNothing, { timeout: 60_000, interval: 250 });
      } finally {
        await teardown.end();
      }
    },
  };
}

/** Returns the container or pod of an agent's only instance. Empty if there is none. */
export async function findBot({ client, platform }: ImageRegion, agentName: string): Promise<string> {
  const { id } = await client.getAgent({ params: { agentName } });
  return platform.findBot(id);
}

/** Waits until no instance of an agent has a container or pod. */
export async function waitUntilRemoved(region: ImageRegion, agentName: string): Promise<void> {
  await expect.poll(() => findBot(region, agentName)).toBe('');
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
