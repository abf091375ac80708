import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeUnless } from '../packages/runtime/test/skip-with-reason.ts';
import { findComposeCommand, readContainerLogs, runDocker, runScript } from './testing/commands.ts';
import { readDocumentedContainerCommands } from './testing/document.ts';
import { buildImagesTimeoutMs, buildServiceImages, noEngine } from './testing/service-images.ts';
import {
  type BothostApiKeys,
  readSessionCompletionStatus,
  runSampleBotSession,
  waitUntilServiceReady,
} from './testing/session.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const project = `bothost-test-${randomBytes(4).toString('hex')}`;

describeUnless(noEngine, 'the service of the compose file', () => {
  let folder: string;
  let origin: string;
  let variables: Readonly<Record<string, string>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bothost-compose-'));
    const [port, images] = [await freePort(), await buildServiceImages()];
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

  const compose = async (words: string) =>
    runScript(`${await findComposeCommand()} -p ${project} -f images/compose.yaml ${words}`, root, variables);
  const container = (service: string) => compose(`ps -q ${service}`);
  const secret = (name: string) => readFile(join(folder, name), 'utf8');

  async function keys(): Promise<BothostApiKeys> {
    return { privateKey: await secret('private_key'), publicKey: await secret('public_key') };
  }

  it('starts with the documented command and stores a session in the database container', async () => {
    const command = (await readDocumentedContainerCommands()).at(-1) ?? '';
    const adapted = command
      .replaceAll('images/secrets', folder)
      .replace('docker compose', `${await findComposeCommand()} -p ${project}`);
    await runScript(adapted, root, variables);
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
