import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeUnless } from '../packages/runtime/test/skip-with-reason.ts';
import { readContainerLogs, runDocker } from './testing/commands.ts';
import { createComposeProject, findFreePort } from './testing/compose.ts';
import { readDocumentedContainerCommands } from './testing/document.ts';
import { buildImagesTimeoutMs, buildServiceImages, noEngine } from './testing/service-images.ts';
import {
  type BothostApiKeys,
  readSessionCompletionStatus,
  runSampleBotSession,
  waitUntilServiceReady,
} from './testing/session.ts';

describeUnless(noEngine, 'the service of the compose file', () => {
  let folder: string;
  let origin: string;
  let variables: Readonly<Record<string, string>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bothost-compose-'));
    const [port, images] = [await findFreePort(), await buildServiceImages()];
    origin = `http://127.0.0.1:${port}`;
    variables = {
      SECRETS: folder,
      SERVICE_IMAGE: images.server,
      POSTGRES_IMAGE: images.postgres,
      BOTHOST_PORT: String(port),
      BOTHOST_PUBLIC_URL: origin,
      BOTHOST_SHUTDOWN_GRACE: '0',
    };
  }, buildImagesTimeoutMs);
  afterAll(async () => {
    await compose('down -v');
    await rm(folder, { recursive: true });
  });

  const { run: compose, runDocumented } = createComposeProject('compose.yaml', () => variables);
  const container = (service: string) => compose(`ps -q ${service}`);
  const secret = (name: string) => readFile(join(folder, name), 'utf8');

  async function keys(): Promise<BothostApiKeys> {
    return { privateKey: await secret('private_key'), publicKey: await secret('public_key') };
  }

  it('starts with the documented command and stores a session in the database container', async () => {
    await runDocumented((await readDocumentedContainerCommands()).at(-1) ?? '', folder);
    await waitUntilServiceReady(origin);
    const sessionId = await runSampleBotSession(origin, await keys());
    const service = await container('bothost');
    expect(await runDocker('exec', service, 'ls', '/var/lib/bothost')).not.toContain('postgres');
    const count = `psql -h 127.0.0.1 -U bothost -d bothost -tAc "select count(*) from sessions where id = '${sessionId}'"`;
    const url = (await secret('database_url')).replace('@database', '@127.0.0.1');
    const query = count.replace('psql -h 127.0.0.1 -U bothost -d bothost', `psql '${url}'`);
    expect(await runDocker('exec', await container('database'), 'sh', '-c', query)).toBe('1');
  });

  it('shows no secret in docker inspect, logs or top, and publishes its port only on loopback', async () => {
    const service = await container('bothost');
    const visible =
      (await runDocker('inspect', service)) + (await readContainerLogs(service)) + (await runDocker('top', service));
    for (const name of ['private_key', 'public_key', 'database_password'])
      expect(visible).not.toContain(await secret(name));
    expect(await runDocker('port', service)).toBe(`7420/tcp -> ${origin.replace('http://', '')}`);
    expect(await runDocker('port', await container('database'))).toBe('');
  });

  it('shuts down cleanly and keeps all records when it is started again', async () => {
    const sessionId = await runSampleBotSession(origin, await keys());
    const before = [await container('bothost'), await container('database')];
    await compose('stop');
    const codes = await Promise.all(before.map((id) => runDocker('inspect', '-f', '{{.State.ExitCode}}', id)));
    expect(codes).toEqual(['0', '0']);
    await compose('down');
    await compose('up -d');
    await waitUntilServiceReady(origin);
    expect(await container('bothost')).not.toBe(before[0]);
    expect(await readSessionCompletionStatus(origin, await keys(), sessionId)).toBe('SESSION_STOPPED');
    await runSampleBotSession(origin, await keys());
  });
});
