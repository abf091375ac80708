import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { allOperations, listOperationPaths, operations } from '../../packages/contract/src/index.ts';
import { testUnless } from '../../packages/runtime/test/skip-with-reason.ts';
import { type DailyStandIn, startDailyStandIn } from '../../packages/server/test/support/daily.ts';
import { markSecretDeliveryFailed } from '../../packages/server/test/support/failed-secret-delivery.ts';
import { signUpPerson, type TestPerson } from '../../packages/server/test/support/people.ts';
import { createRequestRecorder } from '../../packages/server/test/support/request-log.ts';
import {
  insertSecondOrganization,
  type SecondOrganization,
} from '../../packages/server/test/support/second-organization.ts';
import { startTestServer, type TestServer } from '../../packages/server/test/support/test-server.ts';
import { type CommandRunner, openCommandRunner } from './commands.ts';
import { agentSteps, type CommandStep, cleanupSteps, organizationSteps, toStepOfVersion } from './steps.ts';
import { createCertificate, startTlsProxy, type TlsProxy } from './tls-proxy.ts';
import versions from './versions.json' with { type: 'json' };

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether to test the earlier version of each client, too. */
    everyClient: boolean;
  }
}

/** Runs each command of the original CLI of Pipecat Cloud with this service, and starts sessions with its SDK. */
const guide = fileURLToPath(new URL('../../docs/moving.md', import.meta.url));
const sdkCalls = fileURLToPath(new URL('sdk_calls.py', import.meta.url));
/** Matches error output that does not name the cause of the error. The tests fail if a command prints such output. */
const unclear = /Traceback|unknown error|contact support/i;
/** A pcc-deploy.toml with every key that this service honors. */
const wholeFile = `agent_name = "whole"
secret_set = "bot-keys"
region = "us-west"
agent_profile = "agent-2x"
websocket_auth = "none"
max_session_duration = 900

[scaling]
min_agents = 1
max_agents = 3

[build]
context_dir = "project"
dockerfile = "Dockerfile"

[build.exclude]
patterns = ["notes"]

[docker]
auto_latest = false
`;
const bot = `import { createServer } from 'node:http';
createServer(async (request, response) => {
  console.log(request.method, request.url);
  if (request.url !== '/bot') return response.end();
  for await (const chunk of request) console.log(String(chunk));
}).listen(Number(process.env.PORT), process.env.BOT_HOST);
`;

const tested = versions.pypi.pipecatcloud.slice(0, inject('everyClient') ? undefined : 1);

describe.each(tested.map((version, index) => [version, index === 0] as const))(
  'pipecatcloud version %s',
  (version, isNewest) => {
    let folder: string;
    let service: TestServer;
    let other: SecondOrganization;
    let ada: TestPerson;
    let proxy: TlsProxy;
    let commands: CommandRunner;
    /**
     * Map from names to values, such as ids that earlier commands printed. `$NAME` in a later command is replaced by the value.
     */
    const kept = new Map<string, string>();
    const rows: string[] = [];
    let daily: DailyStandIn;
    const { logger, requests } = createRequestRecorder();

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'bothost-moving-'));
      await writeProject(join(folder, 'first'), 'first', bot);
      daily = await startDailyStandIn();
      const environment = { BOTHOST_TRUSTED_PROXIES: '127.0.0.1', BOTHOST_DAILY_API_URL: daily.url };
      service = await startTestServer({ environment, logger });
      await service.client.connectRooms({ params: { provider: 'daily' }, body: { apiKey: daily.apiKey } });
      other = await insertSecondOrganization(service);
      kept.set('OTHER_KEY', other.publicKey);
      ada = await signUpPerson(service, 'ada');
      kept.set('PERSONAL_TOKEN', (await ada.client.createPersonalToken({ body: { name: 'ci' } })).token);
      kept.set('DOCKER', join(folder, 'docker-folder'));
      await writeDocker(join(folder, 'docker-folder'));
      const certificate = await createCertificate(folder);
      proxy = await startTlsProxy(folder, service.url);
      commands = await openCommandRunner(version, {
        directory: join(folder, 'first'),
        environment: {
          HOME: folder,
          PATH: '/usr/bin:/bin',
          COLUMNS: '200',
          NO_COLOR: '1',
          PROMPT_TOOLKIT_NO_CPR: '1',
          TERM: 'xterm',
          SSL_CERT_FILE: certificate,
          PIPECAT_API_HOST: service.url,
          PIPECAT_TOKEN: service.privateKey,
        },
      });
    });
    afterAll(async () => {
      await daily?.close();
      commands?.close();
      proxy?.close();
      await other?.close();
      await service?.close();
      await rm(folder, { recursive: true, force: true });
    });

    const filled = (text: string) => text.replace(/\$([A-Z_]+)/g, (_, name: string) => kept.get(name) ?? name);

    async function follow({ line, status, shows, keeps = [], options = {}, ...step }: CommandStep): Promise<void> {
      const environment = Object.fromEntries(
        Object.entries(options.environment ?? {}).map(([name, value]) => [name, filled(value)]),
      );
      const answers = options.answers?.map(([prompt, keys]) => [prompt, filled(keys)] as const);
      const run = () =>
        commands.run(['cloud', ...filled(line).split(' ')], {
          environment,
          ...(answers === undefined ? {} : { answers }),
        });
      const pattern = new RegExp(
        shows.source.replace(/\\\$(\w+)/g, (_, name: string) => kept.get(name) ?? ''),
        shows.flags,
      );
      const deadline = Date.now() + 30_000;
      let result = await run();
      while (step.eventually && !pattern.test(result.output) && Date.now() < deadline) result = await run();
      expect([result.status, result.output]).toEqual([status, expect.stringMatching(pattern)]);
      expect(result.output).not.toMatch(unclear);
      for (const [index, name] of keeps.entries()) kept.set(name, pattern.exec(result.output)?.[index + 1] ?? '');
      if (step.does !== undefined) rows.push(row(line, status, step.does));
      if (step.refused) rows.push(row(line, status, `refuses: ${sentenceOf(result.output)}`));
    }

    it('auth login over HTTPS stores a personal token, which auth logout revokes', async () => {
      const home = join(folder, 'login');
      const [browser, opened] = [join(home, 'xdg-open'), join(home, 'opened')];
      await mkdir(home);
      await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`, {
        mode: 0o755,
      });
      const environment = {
        HOME: home,
        PATH: `${home}:/usr/bin:/bin`,
        BROWSER: 'xdg-open',
        PIPECAT_API_HOST: proxy.url,
        PIPECAT_TOKEN: undefined,
      };
      const login = commands.run(['cloud', 'auth', 'login'], { environment });
      await vi.waitUntil(() => existsSync(opened), { timeout: 60_000 });
      const page = new URL(await readFile(opened, 'utf8'));
      expect(page.origin + page.pathname).toBe(`${proxy.url}/authorize`);
      const body = operations.decideAuthorization.body.parse({
        ...Object.fromEntries(page.searchParams),
        approve: true,
      });
      await fetch((await ada.client.decideAuthorization({ body })).redirectUrl);
      expect(await login).toEqual({ status: 0, output: expect.stringContaining('Authentication successful') });
      rows.push(row('auth login', 0, 'opens the page of this service that approves the login; needs HTTPS'));

      const whoami = await commands.run(['cloud', 'auth', 'whoami'], { environment });
      expect(whoami).toEqual({ status: 0, output: expect.stringContaining('ada@example.com') });
      const created = async () => (await ada.client.listPersonalTokens()).tokens.map(({ name }) => name);
      expect(await created()).toEqual(['ci', "Pipecat Cloud's CLI"]);
      const logout = await commands.run(['cloud', 'auth', 'logout'], { environment });
      expect(logout).toEqual({ status: 0, output: expect.stringContaining('session revoked') });
      expect(await created()).toEqual(['ci']);
    });

    it.each(organizationSteps)('the command "$line" exits with status $status', follow);

    it.each([
      ['project that cannot be built', 'broken', null, /Build failed: The project has no bot\.js\./],
      [
        'bot that exits',
        'exits',
        "console.error('no license'); process.exitCode = 3;",
        /PCC_BOT_EXITED: Agent deployment failed: .*status 3/,
      ],
    ])('a failed deploy prints the cause of its failure: a %s', async (_, name, code, reason) => {
      await writeProject(join(folder, name), name, code);
      const { status, output } = await commands.run(['cloud', 'deploy', '--yes'], { directory: join(folder, name) });
      expect([status, output]).toEqual([1, expect.stringMatching(reason)]);
      expect(output).not.toMatch(unclear);
    });

    it('setup for the next tests: a secret set is stored, and its delivery is marked as failed', async () => {
      const secrets = [{ secretKey: 'A', secretValue: 'x' }];
      const setName = 'failed-keys';
      await service.client.putSecrets({ params: { setName }, body: { secrets } });
      const isReady = async () => (await service.client.getSecretSet({ params: { setName } })).status === 'ready';
      await vi.waitUntil(isReady, { timeout: 60_000 });
      await markSecretDeliveryFailed(service, setName, 'no disk');
    });

    it.each(agentSteps.map((step) => toStepOfVersion(step, version)))(
      'the command "$line" exits with status $status',
      follow,
    );

    it('a deploy honors every key of pcc-deploy.toml', async () => {
      const directory = join(folder, 'whole');
      await mkdir(directory);
      const listing = "import { readdirSync } from 'node:fs';\nconsole.log('files', readdirSync('.').sort().join());\n";
      await writeProject(join(directory, 'project'), 'whole', listing + bot);
      await writeFile(join(directory, 'project', 'notes'), 'private');
      await writeFile(join(directory, 'pcc-deploy.toml'), wholeFile);
      const { status, output } = await commands.run(['cloud', 'deploy', '--yes'], { directory });
      expect([status, output]).toEqual([0, expect.stringContaining("'whole' is ready")]);
      expect(await service.client.getAgent({ params: { agentName: 'whole' } })).toMatchObject({
        region: 'us-west',
        agentProfile: 'agent-2x',
        websocketAuth: 'none',
        maxSessionDuration: 900,
        autoScaling: { minReplicas: 1, maxReplicas: 3 },
        secretSets: [expect.objectContaining({ secretSet: 'bot-keys' })],
      });
      const { output: log } = await commands.run(['cloud', 'agent', 'logs', 'whole']);
      expect(log).toMatch(/files Dockerfile,bot\.js,package\.json$/m);
    });

    describe('Session of the SDK', () => {
      const start = async (agentName: string, key: string, params: object = {}) => {
        const { output } = await commands.run([sdkCalls, agentName, key, JSON.stringify(params)]);
        return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Record<string, string>;
      };

      it('starts a session and passes `data` to the bot', async () => {
        const { sessionId = '' } = await start('first', service.publicKey, { data: { name: 'Ada' } });
        const { sessions } = await service.client.getSessions({ params: { agentName: 'first' }, query: { limit: 1 } });
        expect(sessions.map((session) => session.sessionId)).toEqual([sessionId]);
        const readLog = async () =>
          (await service.client.getLogs({ params: { agentName: 'first' }, query: { sessionId } })).logs.map(
            ({ log }) => log,
          );
        await expect.poll(readLog).toContainEqual(expect.stringMatching(/"name": ?"Ada"/));
      });

      it.each([
        [
          'a wrong key',
          'first',
          'pk_wrong',
          {},
          '401',
          'The API key or token is unknown, revoked, expired or of the wrong kind.',
        ],
        ['a missing agent', 'nobody', '', {}, '404', 'Agent or session not found.'],
      ])('raises AgentStartError for a start with %s', async (_, agentName, key, params, code, sentence) => {
        expect(await start(agentName, key || service.publicKey, params)).toEqual({
          error_code: code,
          message: expect.stringContaining(`${code} - ${sentence}`),
        });
      });

      it('starts a session in a room of Daily, which is deleted at the end of the session', async () => {
        const properties = { use_daily: true, daily_room_properties: { max_participants: 2 } };
        const started = await start('first', service.publicKey, properties);
        const [room] = daily.rooms();
        expect(room?.properties).toMatchObject({ max_participants: 2, eject_at_room_exp: true });
        expect(started).toEqual({
          sessionId: expect.any(String),
          dailyRoom: `https://stand-in.daily.co/${room?.name}`,
          dailyToken: expect.any(String),
        });
        await service.client.stopSession({ params: { agentName: 'first', sessionId: started['sessionId'] ?? '' } });
        await expect.poll(daily.rooms, { timeout: 10_000 }).toEqual([]);
      });

      it('raises AgentStartError when the agent is at capacity', async () => {
        await start('first', service.publicKey);
        const { error_code: code } = await start('first', service.publicKey);
        expect(code).toBe('PCC-AGENT-AT-CAPACITY');
      });
    });

    it.each(cleanupSteps)('the command "$line" exits with status $status', follow);

    it('the CLI requests only paths whose authorization is tested', () => {
      const tested = Object.values(allOperations).flatMap(({ method, key, path }) =>
        listOperationPaths({ key, path }).map((one) => `${method} ${one.replace(/\{\w+\}/g, '[^/]+')}`),
      );
      tested.push('GET /auth/config', 'GET /\\.well-known/openid-configuration', 'POST /auth/logout');
      // The upload of an archive is allowed too. The tests of API keys do not cover it, because a signed token in the uploaded
      // form authorizes the upload.
      tested.push('POST /uploads/[^/]+');
      const pattern = new RegExp(`^(${tested.join('|')})$`);
      expect([...requests].filter((request) => !pattern.test(request))).toEqual([]);
      expect(requests.size).toBeGreaterThan(50);
    });

    testUnless(
      isNewest ? null : 'not applicable: the document describes the newest CLI',
      'docs/moving.md contains the exit codes and effects of all commands as observed in this test run',
      async () => {
        const table = ['| command | exit | what it does here |', '|---|---|---|', ...rows].join('\n');
        const written = await readFile(guide, 'utf8');
        const [before = '', rest = ''] = written.split(/(?<=<!-- table of commands -->\n\n)/);
        const after = rest.slice(rest.indexOf('\n\n'));
        await expect(`${before}${table}${after}`).toMatchFileSnapshot(guide);
      },
    );
  },
);

async function writeProject(directory: string, name: string, code: string | null): Promise<void> {
  await mkdir(directory);
  await writeFile(join(directory, 'Dockerfile'), 'FROM scratch\n');
  await writeFile(join(directory, 'package.json'), JSON.stringify({ type: 'module', main: 'bot.js' }));
  await writeFile(join(directory, 'pcc-deploy.toml'), `agent_name = "${name}"\n\n[scaling]\nmax_agents = 1\n`);
  if (code !== null) await writeFile(join(directory, 'bot.js'), code);
}

/** Writes a program named `docker` that only prints its arguments. */
async function writeDocker(directory: string): Promise<void> {
  await mkdir(directory);
  await writeFile(join(directory, 'docker'), '#!/bin/sh\necho docker "$@"\n', { mode: 0o755 });
}

function row(line: string, status: number, does: string): string {
  const command = line
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll('$BUILD', 'BUILD')
    .replaceAll('$SESSION', 'SESSION');
  return `| \`pipecat cloud ${command}\` | ${status} | ${does.replaceAll('|', '\\|')} |`;
}

/** Returns the error message of the service, which the CLI prints after "API Error:". */
function sentenceOf(output: string): string {
  return /API Error: (.+)/.exec(output)?.[1] ?? '';
}
