import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiClient } from '../packages/contract/src/index.ts';
import { describeUnless } from '../packages/runtime/test/skip-with-reason.ts';
import { runDocker } from './testing/commands.ts';
import { createComposeProject, findFreePort } from './testing/compose.ts';
import { readDocumentedContainerCommands } from './testing/document.ts';
import { buildImagesTimeoutMs, buildServiceImages, noEngine } from './testing/service-images.ts';
import { runSampleBotSession, waitUntilServiceReady } from './testing/session.ts';

describeUnless(noEngine, 'the service of the compose file for bots in containers', () => {
  let folder: string;
  let origin: string;
  let databasePort: number;
  let variables: Readonly<Record<string, string>>;
  let botImage: string;
  const { run: compose, runDocumented } = createComposeProject('compose.docker.yaml', () => variables);
  const secret = (name: string) => readFile(join(folder, name), 'utf8');
  const keys = async () => ({ privateKey: await secret('private_key'), publicKey: await secret('public_key') });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bothost-compose-'));
    const port = await findFreePort();
    const images = await buildServiceImages();
    databasePort = await findFreePort();
    origin = `http://127.0.0.1:${port}`;
    variables = {
      SECRETS: folder,
      SERVICE_IMAGE: images.server,
      POSTGRES_IMAGE: images.postgres,
      DATABASE_PORT: String(databasePort),
      BOTHOST_PORT: String(port),
      BOTHOST_DATA_DIR: join(folder, 'data'),
      BOTHOST_PUBLIC_URL: origin,
      BOTHOST_LOCAL_IMAGES: 'true',
      BOTHOST_SHUTDOWN_GRACE: '0',
    };
    // The image of the service contains the parrot.
    const container = await runDocker(
      'create',
      '--entrypoint',
      'node',
      images.server,
      '/app/examples/parrot/dist/main.js',
    );
    botImage = 'bothost-test-sample:1';
    await runDocker('commit', container, botImage);
    await runDocker('rm', '-v', container);
  }, buildImagesTimeoutMs);
  afterAll(async () => {
    await compose('down -v');
    await runDocker('rmi', botImage);
    await rm(folder, { recursive: true });
  });

  const bots = () => runDocker('ps', '-q', '--filter', `ancestor=${botImage}`);

  it('runs a session in a container beside it, also after it was killed, and leaves none when it stops', async () => {
    const [prepare = ''] = ((await readDocumentedContainerCommands()).at(-1) ?? '').split('docker compose');
    const database = `@database:${databasePort}/`;
    const document = await readFile(new URL('../docs/images.md', import.meta.url), 'utf8');
    const start = /^docker compose .*$/m.exec(document)?.[0] ?? '';
    await runDocumented(`${prepare.replace('@database/', database)}${start}`, folder);
    await waitUntilServiceReady(origin);
    const client = createApiClient({ origin, key: (await keys()).privateKey });
    await client.createAgent({ body: { serviceName: 'parrot', image: botImage, autoScaling: { minAgents: 1 } } });
    await runSampleBotSession(origin, await keys());
    await runDocker('kill', await compose('ps -q bothost'));
    expect(await bots()).not.toBe('');
    await compose('up -d');
    await waitUntilServiceReady(origin);
    await runSampleBotSession(origin, await keys());
    await compose('stop');
    expect(await bots()).toBe('');
  });
});
