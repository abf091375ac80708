import { createHash } from 'node:crypto';
import { createDockerRuntime, type DockerRuntimeOptions } from '../../src/docker/docker-runtime.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { RuntimeSetup } from '../conformance/fixture.ts';
import type { InstanceProbe } from '../conformance/probe.ts';
import { createTestRuntimeOptions } from '../test-options.ts';
import { buildNodeImage, runDocker } from './engine.ts';

/** A host id for each data directory, so that tests do not touch the containers of others. */
export const getTestHostId = (dataDirectory: string) =>
  createHash('sha256').update(dataDirectory).digest('hex').slice(0, 32);

export function openDockerRuntime(
  dataDirectory: string,
  options: Partial<DockerRuntimeOptions> = {},
): Promise<Runtime> {
  const { logger, now, removeTree, path } = createTestRuntimeOptions(dataDirectory);
  return createDockerRuntime({
    dataDirectory,
    hostId: getTestHostId(dataDirectory),
    logger,
    now,
    removeTree,
    path,
    outputLimitBytes: 1024 * 1024,
    engine: 'unix:///var/run/docker.sock',
    imageLimitBytes: 10 * 1024 ** 3,
    allowsLocalImages: true,
    instanceDiskBytes: null,
    capabilities: [],
    ...options,
  });
}

export const dockerRuntimeSetup: RuntimeSetup = {
  open: (dataDirectory) => openDockerRuntime(dataDirectory),
  probe: createContainerProbe,
  makeBot: async (files, directory) => ({
    kind: 'image',
    reference: await nameImage(await buildNodeImage(files, directory)),
    organizationId: 'acme',
  }),
  enforcesLimits: true,
  timesUnattendedOutput: true,
};

/** Gives an image a name, because a reference cannot be an id. */
async function nameImage(id: string): Promise<string> {
  const name = `bothost-test-bot:${id.slice('sha256:'.length, 'sha256:'.length + 12)}`;
  await runDocker('tag', id, name);
  return name;
}

/** Observes containers with the command `docker`, and not with the code of the driver, because the tests check that code. */
function createContainerProbe(): InstanceProbe {
  const find = (instanceId: string) => runDocker('ps', '-aq', '--filter', `label=bothost.instance=${instanceId}`);
  const topOf = async (instanceId: string) => {
    const table = await runDocker('top', await find(instanceId), '-eo', 'pid,ppid').catch(() => 'PID PPID');
    return table
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/).map(Number));
  };
  return {
    countProcesses: async (instanceId) => (await topOf(instanceId)).length,
    kill: async (instanceId, signal) => {
      const processes = await topOf(instanceId);
      const pids = new Set(processes.map(([pid]) => pid));
      // The first process is the init process of the engine, and the bot is its child.
      const init = processes.find(([, parent]) => !pids.has(parent))?.[0];
      const bot = processes.find(([, parent]) => parent === init)?.[0];
      if (bot === undefined) throw new Error(`Instance ${instanceId} has no running bot.`);
      process.kill(bot, signal);
    },
    countBuildProcesses: async () => 0,
    attacks: async () => [],
    privateFiles: async () => [],
    keptProjects: async () => [],
    keptDownloads: async () => [],
  };
}
