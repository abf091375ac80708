import { noEngine, runDocker } from '../../../runtime/test/docker/engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { defineAcceptanceTests } from '../image-region/acceptance-tests.ts';
import type { BotPlatform } from '../image-region/image-region.ts';
import { hasDockerRegistry } from '../support/docker-registry.ts';

/** The Docker engine of this machine. It accepts registries on loopback without TLS. */
const platform: BotPlatform = {
  environment: { BOTHOST_RUNTIME: 'docker', BOTHOST_LOCAL_IMAGES: 'true' },
  registries: [],
  acceptRegistry: async () => undefined,
  publishImage: async (name) => name,
  readsConversations: true,
  shortensGracePeriods: true,
  findBot: (agentId) => runDocker('ps', '-aq', '--filter', `label=bothost.agent=${agentId}`),
  runInBot: (bot, ...command) => runDocker('exec', bot, ...command),
  listRemains: async (hostId) => {
    const filter = ['--filter', `label=bothost.host=${hostId}`];
    const lists = [await runDocker('ps', '-aq', ...filter), await runDocker('network', 'ls', '-q', ...filter)];
    return lists.filter((list) => list !== '');
  },
  close: async () => undefined,
};

const missing = noEngine ?? ((await hasDockerRegistry()) ? null : 'docker-registry is not installed');

describeUnless(missing, 'the service on a Docker engine', () => defineAcceptanceTests(async () => platform));
