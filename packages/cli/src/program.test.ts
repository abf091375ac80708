import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createApiError } from '@bothost/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeService, startFakeService } from '../test/fake-service/fake-service.ts';
import {
  agent,
  agentListItem,
  mistypedKey,
  organization,
  privateKey,
  publicKey,
} from '../test/fake-service/records.ts';
import { createProfilePath } from '../test/profile-file.ts';
import { type RunOptions, runProgram } from '../test/run-program.ts';
import { version } from './version.ts';

let service: FakeService;
let profile: Awaited<ReturnType<typeof createProfilePath>>;
let variables: Record<string, string>;

beforeAll(async () => {
  profile = await createProfilePath();
  service = await startFakeService(
    { privateKey, publicKey },
    {
      listOrganizations: () => ({ organizations: [organization] }),
      listAgents: () => ({ services: [agentListItem], agents: [agentListItem] }),
      getAgent: ({ params }) => {
        if (params['agentName'] !== 'parrot') throw createApiError('not-found');
        return agent;
      },
      listRegions: () => {
        throw createApiError('invalid-request', { issues: [{ path: 'query.x', message: 'is \u001b[31mwrong' }] });
      },
      getProperties: () => ({ properties: { defaultRegion: 'us-west' } }),
    },
  );
  variables = { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey, BOTCLI_CONFIG: profile.file };
});
afterAll(async () => {
  await service.close();
  await profile.remove();
});

const ask = (line: string, given: RunOptions = {}) =>
  runProgram(line === '' ? [] : line.split(' '), { variables, ...given });

test('--version and --help print to standard output without a service', async () => {
  expect(await ask('--version')).toEqual({ status: 0, stdout: `botcli ${version}\n`, stderr: '' });
  expect(JSON.parse((await ask('--version --json')).stdout)).toEqual({ version });
  for (const line of ['', '--help', '-h', 'help']) {
    expect(await ask(line)).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage:\n  botcli COMMAND') });
  }
  expect((await ask('--help')).stdout).toContain('botcli init quickstart');
  const help = await ask('cloud agent stop --help');
  expect(help).toMatchObject({ status: 0, stderr: '' });
  expect(help.stdout).toContain('botcli cloud agent stop NAME --session-id ID [options]');
  expect((await ask('help cloud agent stop')).stdout).toBe(help.stdout);
  expect((await ask('cloud auth whoami --help')).stdout).toBe((await ask('cloud auth status --help')).stdout);
});

test.each([
  ['cloud', '"botcli cloud" needs a subcommand', 'botcli cloud --help'],
  ['cloud agnt list', 'Unknown command "botcli cloud agnt"', 'Did you mean "botcli cloud agent"?'],
  ['agent list', 'Unknown command "botcli agent"', 'Did you mean "botcli cloud agent list"?'],
  ['deploy', 'Unknown command "botcli deploy"', 'Did you mean "botcli cloud deploy"?'],
  ['--bogus', 'Unknown option --bogus', ''],
  ['cloud agent list --regoin x', 'Unknown option --regoin', 'Did you mean --region?'],
  ['cloud agent list extra', 'The command takes no arguments', ''],
  [
    'cloud secrets image-pull-secret reg ghcr.io me pa55',
    'Too many arguments. CREDENTIALS must be the last argument.\n',
    '',
  ],
  ['cloud agent list -phello', 'Unknown option -p', ''],
  ['cloud agent status', 'NAME is missing', 'Usage: botcli cloud agent status NAME'],
  ['cloud agent stop parrot', '--session-id is missing', ''],
  ['cloud agent list --region', '--region needs a value', ''],
  ['cloud agent list --region --api-url x', '"--api-url" looks like an option', '--region=--api-url'],
  ['cloud agent stop x -s y --force=yes', '--force takes no value', ''],
  ['cloud agent list --output xml', '--output must be one of rich, plain, json, not "xml"', ''],
  ['cloud agent sessions parrot --limit 0', '--limit takes a whole number from 1 to 1000, not "0"', ''],
  ['cloud keys create x --kind secret', '--kind must be one of private, public, not "secret"', ''],
  ['cloud agent list --api-url nowhere', 'not an http or https URL', ''],
  [
    'cloud secrets set x KEY -----BEGIN',
    'An argument begins with a hyphen but is not a valid option.\n',
    'write -- before',
  ],
  ['constructor', 'Unknown command "botcli constructor"', ''],
  ['cloud agent list --constructor', 'Unknown option --constructor', ''],
])('rejects `botcli %s` with exit status 2 and the message %j', async (line, message, hint) => {
  const { status, stdout, stderr } = await ask(line);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
});

test('rejects an unknown output mode in BOTCLI_OUTPUT', async () => {
  const outcome = await ask('cloud agent list', { variables: { ...variables, BOTCLI_OUTPUT: 'xml' } });
  expect(outcome).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('BOTCLI_OUTPUT must be one of rich, plain, json'),
  });
});

test.each(['cloud deploy', 'cloud secrets set'])(
  'the help of the command %s begins with one short sentence and the usage of the command',
  async (path) => {
    const { stdout } = await ask(`${path} --help`);
    const [first = '', second] = stdout.split('\n\n');
    expect(first.split(' ').length).toBeLessThan(12);
    expect(second).toMatch(/^Usage:/);
    expect(stdout.indexOf('Details:')).toBeGreaterThan(stdout.indexOf('Options:'));
    expect(stdout.indexOf('Examples:')).toBeGreaterThan(stdout.indexOf('Details:'));
  },
);

test('prints plain output to pipes and rich output to terminals, unless an option or variable overrides the mode', async () => {
  const header = 'Name\tRegion\tAgent id\tActive deployment id\tSecret set\tCreated\tUpdated\tStatus\tLast deploy\n';
  const plain = `${header}parrot\tus-west\t`;
  expect((await ask('cloud agent list')).stdout).toMatch(new RegExp(`^${plain}.*\n$`));
  const rich = await ask('cloud agent list', { terminal: true, columns: 200 });
  expect(rich.stdout).toContain('\u001b[1mName\u001b[22m');
  expect((await ask('cloud agent list --output plain', { terminal: true })).stdout).toMatch(new RegExp(`^${plain}`));
  const json = { variables: { ...variables, BOTCLI_OUTPUT: 'json' } };
  for (const outcome of [
    await ask('cloud agent list --json'),
    await ask('--output json cloud agent list'),
    await ask('--json cloud --output=plain agent list', { terminal: true }),
    await ask('cloud agent list', json),
  ]) {
    expect(JSON.parse(outcome.stdout)).toEqual({ agents: [agentListItem] });
  }
  expect((await ask('cloud agent list --output plain', json)).stdout).toMatch(new RegExp(`^${plain}`));
});

test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])(
  'prints without colors if the environment contains %j',
  async (more) => {
    const outcome = await ask('cloud agent list', { terminal: true, variables: { ...variables, ...more } });
    expect(outcome.stdout).toMatch(/^Name {4}Region/);
    expect(outcome.stdout).not.toContain('\u001b');
    const failed = await ask('cloud agent status crow', { terminal: true, variables: { ...variables, ...more } });
    expect(failed.stderr).toMatch(/^error: Agent "crow" does not exist/);
  },
);

test('hides columns on a narrow terminal, names the hidden columns, and truncates no value', async () => {
  const { stdout } = await ask('cloud agent list', { terminal: true, columns: 40 });
  expect(stdout).toContain(
    'Columns hidden on this narrow terminal: agent id, active deployment id, secret set, created, updated.',
  );
  expect(stdout).not.toContain(agentListItem.id);
});

test('prints the message, request id and hint of a service error and exits with 1', async () => {
  expect(await ask('cloud agent status crow')).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'error: Agent "crow" does not exist.\n  request id: request-1\n' +
      'To list the agents, run: botcli cloud agent list\n',
  });
  const { status, stdout, stderr } = await ask('cloud agent status crow --json');
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    error: {
      error: 'Agent "crow" does not exist.',
      code: '404',
      reason: 'not-found',
      requestId: 'request-1',
      hint: 'To list the agents, run: botcli cloud agent list',
    },
  });
});

test('prints each issue of an error on its own line and removes control sequences', async () => {
  const { stderr } = await ask('cloud regions list');
  expect(stderr).toContain('\n  query.x: is wrong\n');
  const { error } = JSON.parse((await ask('cloud regions list --json')).stdout);
  expect(error.issues).toEqual([{ path: 'query.x', message: 'is \u001b[31mwrong' }]);
});

test('rejects an invalid key with a hint to log in and never prints the key', async () => {
  const outcome = await ask('cloud agent list', { variables: { ...variables, BOTCLI_TOKEN: mistypedKey } });
  expect(outcome.status).toBe(1);
  expect(outcome.stderr).toContain('warning: the key from BOTCLI_TOKEN has a wrong checksum');
  expect(outcome.stderr).toContain('The API key or token is unknown, revoked, expired or of the wrong kind.');
  expect(outcome.stderr).toContain('botcli cloud auth login');
  expect(outcome.stdout + outcome.stderr).not.toContain(mistypedKey);
});

test.each<[Record<string, string>, string, string]>([
  [{ BOTCLI_TOKEN: '' }, 'No private key is configured.', '`npm start`'],
  [{ BOTCLI_TOKEN: 'sk_with\u00e9' }, 'contains characters that a key cannot have', 'Copy the key again'],
  [{ BOTCLI_TOKEN: publicKey }, 'is a public key; this command needs a private key', ''],
  [{ BOTCLI_API_URL: 'http://127.0.0.1:1' }, 'cannot reach the service at http://127.0.0.1:1', 'BOTCLI_API_URL'],
])('exits with 1 and prints a message and a hint if the environment contains %j', async (changed, message, hint) => {
  const { status, stdout, stderr } = await ask('cloud agent list', { variables: { ...variables, ...changed } });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
  const key = changed['BOTCLI_TOKEN'];
  if (key) expect(stderr).not.toContain(key);
});

test('exits with 1 if the profile is invalid, without printing its content', async () => {
  const file = join(profile.file, '..', '..', 'broken.toml');
  await writeFile(file, 'private_key = sk_secret\n', { mode: 0o600 });
  const outcome = await ask('cloud agent list', { variables: { ...variables, BOTCLI_CONFIG: file } });
  expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining('is not valid TOML (line 1)') });
  expect(outcome.stderr).not.toContain('sk_secret');
});

test('uses the API path of an organization only if --organization is given', async () => {
  await ask('cloud agent list -o acme');
  expect(service.requests.at(-1)).toMatchObject({ path: '/v1/organizations/acme/agents', key: privateKey });
  await ask('cloud agent list --region us-west');
  expect(service.requests.at(-1)).toMatchObject({ path: '/v1/agents', query: { region: 'us-west' } });
  expect(service.requests.at(-1)?.userAgent).toBe(`botcli/${version}`);
});

test('Ctrl-C aborts a request that has no response yet, and the exit status is 130', async () => {
  const interruption = new AbortController();
  const silent = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => interruption.abort());
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const outcome = await ask(`cloud agent list --api-url http://127.0.0.1:${port}`, { signal: interruption.signal });
  silent.close();
  expect(outcome).toEqual({ status: 130, stdout: '', stderr: 'Interrupted.\n' });
});

test('wraps help at the width of the terminal without losing a word', async () => {
  const whole = (await runProgram(['init', '--help'])).stdout;
  for (const columns of [40, 80, 200]) {
    const { stdout } = await runProgram(['init', '--help'], { terminal: true, columns, variables: { NO_COLOR: '1' } });
    const words = (text: string) => text.split(/\s+/).sort();
    expect(words(stdout)).toEqual(words(whole));
    const fixed = /^ {2}(botcli|-)/;
    const wide = stdout.split('\n').filter((line) => line.length > Math.min(columns, 110) && !fixed.test(line));
    expect(wide).toEqual([]);
  }
});

test('commands that send no requests work with an invalid profile and an invalid service URL', async () => {
  const variables = { BOTCLI_CONFIG: '/dev/null/profile', BOTCLI_API_URL: 'nonsense' };
  expect((await runProgram(['init', 'quickstart', '--dry-run'], { variables })).status).toBe(0);
  expect((await runProgram(['project', 'check', '/nonexistent'], { variables })).stderr).toContain(
    'not a botcli project',
  );
  expect((await runProgram(['cloud', 'regions', 'list'], { variables })).status).not.toBe(0);
});
