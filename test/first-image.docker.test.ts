import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../packages/contract/src/index.ts';
import {
  importNodeImage,
  noPrivateEngine,
  startPrivateEngine,
} from '../packages/runtime/test/docker/private-engine.ts';
import { describeUnless } from '../packages/runtime/test/skip-with-reason.ts';
import {
  createRegistryFolder,
  startDockerRegistry,
  writePasswordFile,
} from '../packages/server/test/support/docker-registry.ts';
import { networkAddress } from '../packages/server/test/support/turn-server.ts';
import { startBuiltService } from './built-service.ts';
import { openTerminal, readDocumentedSteps } from './transcript.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const [user, password] = ['robot', 'of-this-test'];

/** A registry with TLS and a password at an address outside of loopback, where the engine verifies its certificate. */
async function startPrivateRegistry() {
  const folder = await createRegistryFolder(networkAddress);
  onTestFinished(folder.remove);
  const auth = { htpasswd: { realm: 'test', path: await writePasswordFile(folder, user, password) } };
  const registry = await startDockerRegistry(folder, auth, true, networkAddress);
  onTestFinished(registry.close);
  return { host: `${networkAddress}:${registry.port}`, certificate: folder.certificate };
}

describeUnless(noPrivateEngine, 'docs/images.md', () => {
  it('leads from a Dockerfile on a laptop to a session on a server, with a private registry', async () => {
    const document = await readFile(join(root, 'docs/images.md'), 'utf8');
    const [, commands] = readDocumentedSteps(document, 'From a laptop to a server');
    const { host, certificate } = await startPrivateRegistry();
    // The laptop and the server share an engine, because a second one would show nothing more.
    const engine = await startPrivateEngine({ environment: { SSL_CERT_FILE: certificate } });
    onTestFinished(engine.close);
    await importNodeImage(engine, 'node:24-bookworm-slim', { 'main.js': '' }, 'main.js');
    const service = await startBuiltService({
      BOTHOST_RUNTIME: 'docker',
      BOTHOST_DOCKER_HOST: engine.host,
      BOTHOST_REGISTRIES: host,
    });
    onTestFinished(service.close);
    await cp(join(root, 'examples/parrot'), join(service.folder, 'server'), { recursive: true });
    await engine.run('login', '--username', user, '--password', password, host);

    const terminal = openTerminal(service.folder, service.origin, {
      ...service.environment,
      BOTCLI_TOKEN: service.privateKey,
      DOCKER_HOST: engine.host,
      DOCKER_CONFIG: join(engine.directory, 'client'),
    });
    const lines = commands?.text.replaceAll('ghcr.io', host).replace('USER:TOKEN', `${user}:${password}`).trim();
    const follow = async (line: string) => terminal.follow({ kind: 'commands', text: line, printed: null });
    const [build = '', push = '', ...others] = lines?.split('\n') ?? [];
    await follow(build);
    expect(await follow(push)).toContain('digest: sha256:');
    // The service must pull the image.
    await engine.run('rmi', `${host}/team/my-bot:1`);
    // There is no terminal that could ask for confirmation.
    const printed = [];
    for (const line of others) printed.push(await follow(line.replace(/ deploy .*/, '$& --yes')));
    expect(printed).toEqual([
      expect.stringMatching(/^Change +created$/m),
      expect.stringMatching(/^Result +Active after [\s\S]*^Digest +sha256:/m),
      expect.stringMatching(/^Session +\S+$/m),
    ]);

    const client = createApiClient({ origin: service.origin, key: service.privateKey });
    const { sessions } = await client.getSessions({ params: { agentName: 'my-bot' }, query: {} });
    expect(sessions).toMatchObject([{ completionStatus: null, botStartMilliseconds: expect.any(Number) }]);
  }, 240_000);
});
