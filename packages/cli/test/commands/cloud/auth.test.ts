import { readFile } from 'node:fs/promises';
import { createApiError } from '@bothost/contract';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { writeProfile } from '../../../src/connection/profile.ts';
import { type FakeService, simulatedDisconnectError, startFakeService } from '../../fake-service/fake-service.ts';
import { mistypedKey, organization, privateKey, publicKey } from '../../fake-service/records.ts';
import { createProfilePath } from '../../profile-file.ts';
import { type RunOptions, runProgram } from '../../run-program.ts';

const other = { id: '01930000-0000-7000-8000-0000000000ff', name: 'other', verboseName: 'Other' };
const deviceLogin = {
  device_code: 'device',
  user_code: 'ABCD-EFGH',
  verification_uri: 'http://service/device',
  verification_uri_complete: 'http://service/device?code=ABCD-EFGH',
  expires_in: 600,
  interval: 5,
};
let service: FakeService;
let place: Awaited<ReturnType<typeof createProfilePath>>;

beforeEach(async () => {
  place = await createProfilePath();
  service = await startFakeService(
    { privateKey, publicKey },
    { listOrganizations: () => ({ organizations: [organization, other] }) },
  );
});
afterEach(async () => {
  await service.close();
  await place.remove();
});

const cloud = (line: string, given: RunOptions = {}) =>
  runProgram(['cloud', ...line.split(' ')], {
    ...given,
    variables: { BOTCLI_CONFIG: place.file, BOTCLI_API_URL: service.origin, ...given.variables },
  });
const stored = () => readFile(place.file, 'utf8').catch(() => '');
const profileOf = (name: string) => `api_url = "${service.origin}"\norganization = "${name}"\n`;

test.each([
  ['login', 'the environment', '', { variables: { BOTCLI_TOKEN: privateKey } }],
  ['login', 'standard input', ' --with-token', { stdin: `${privateKey}\n` }],
  ['use-pat', 'standard input', ' --with-token', { stdin: `${privateKey}\n` }],
  ['use-pat', 'a hidden prompt', '', { terminal: true, answers: [privateKey, 'acme'] }],
])(
  'the command %s with a key from %s verifies and stores the key without printing it',
  async (command, _, flags, given) => {
    const outcome = await cloud(`auth ${command}${flags}`, given);
    expect(outcome.status).toBe(0);
    expect(await stored()).toBe(`${profileOf('acme')}private_key = "${privateKey}"\n`);
    expect(outcome.stdout + outcome.stderr).not.toContain(privateKey);
    expect(service.requests.map(({ path, key }) => [path, key])).toEqual([['/v1/organizations', privateKey]]);
  },
);

test('login rejects a key as an argument', async () => {
  const outcome = await cloud(`auth login ${privateKey}`);
  expect(outcome.status).toBe(2);
  expect(await stored()).toBe('');
});

test('login without a terminal or key explains the options and exits with 2', async () => {
  const outcome = await cloud('auth login');
  expect(outcome).toMatchObject({ status: 2, stderr: expect.stringContaining('--with-token < FILE') });
  expect(outcome.stderr).toContain('Pass --no-browser');
  expect(await cloud('auth login --with-token', { stdin: '\n' })).toMatchObject({ status: 2 });
});

test('login warns about a mistyped key, still sends it, and stores nothing if the service rejects it', async () => {
  const outcome = await cloud('auth login --with-token', { stdin: mistypedKey });
  expect(outcome.status).toBe(1);
  expect(outcome.stderr).toContain('may be mistyped');
  expect(outcome.stderr).toContain('The API key or token is unknown, revoked, expired or of the wrong kind.');
  expect(await stored()).toBe('');
});

test('login rejects a public key without sending a request', async () => {
  const outcome = await cloud('auth login --with-token', { stdin: publicKey });
  expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining('is a public key') });
  expect(service.requests).toEqual([]);
});

test('use-pat exits with 130 and stores nothing after Ctrl-C at the prompt', async () => {
  expect(await cloud('auth use-pat', { terminal: true, answers: ['ctrl-c'] })).toMatchObject({ status: 130 });
  expect(await stored()).toBe('');
});

test('login stores the requested organization, or fails if the key does not belong to it', async () => {
  const given = { stdin: privateKey };
  expect(await cloud('auth login --with-token -o other', given)).toMatchObject({ status: 0 });
  expect(await stored()).toContain('organization = "other"');
  expect(await cloud('auth login --with-token -o elsewhere', given)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no access to the organization "elsewhere"'),
  });
});

test('login to another service removes the public API key of the previous service from the profile', async () => {
  await writeProfile(place.file, { api_url: 'http://old', organization: 'acme', public_key: 'pk_old' });
  const outcome = await cloud('auth login --with-token', { stdin: privateKey });
  expect(outcome.stderr).toContain('belonged to another organization or service and was removed');
  expect(await stored()).not.toContain('pk_old');
});

test('login to the same service and organization keeps the stored public key', async () => {
  await writeProfile(place.file, { api_url: service.origin, organization: 'acme', public_key: 'pk_mine' });
  await cloud('auth login --with-token', { stdin: privateKey });
  expect(await stored()).toContain('public_key = "pk_mine"');
});

test.each(['auth status', 'auth whoami'])(
  'the command %s shows the service, the organization and where the keys are stored, but no key',
  async (line) => {
    await writeProfile(place.file, { private_key: privateKey, public_key: publicKey });
    const { status, stdout, stderr } = await cloud(`${line} --json`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      apiUrl: service.origin,
      profile: place.file,
      person: null,
      organization,
      organizations: [organization, other],
      privateKey: { source: place.file },
      publicKey: { source: place.file },
    });
    const plain = await cloud(line);
    expect(plain.stdout).toContain('Organization\tacme\n');
    expect(plain.stdout).not.toContain(privateKey);
  },
);

test('status without a key exits with 1 and names the login command', async () => {
  expect(await cloud('auth status')).toMatchObject({ status: 1, stderr: expect.stringContaining('auth login') });
});

test('logout asks for confirmation, removes the API keys and the organization from the profile, and keeps the service URL', async () => {
  const keys = { private_key: privateKey, public_key: publicKey };
  await writeProfile(place.file, { api_url: service.origin, organization: 'acme', ...keys });
  expect(await cloud('auth logout')).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  expect(await cloud('auth logout', { terminal: true, answers: [false] })).toMatchObject({ status: 1 });
  expect(await stored()).toContain(privateKey);
  expect(await cloud('auth logout', { terminal: true, answers: [true] })).toMatchObject({ status: 0 });
  expect(await stored()).toBe(`api_url = "${service.origin}"\n`);
  expect(JSON.parse((await cloud('auth logout --json')).stdout)).toMatchObject({ loggedOut: false });
});

test('organizations select accepts an ID, removes the public API key of the previous organization, and rejects an unknown name', async () => {
  await writeProfile(place.file, { private_key: privateKey, organization: 'acme', public_key: 'pk_old' });
  expect((await cloud('organizations list')).stdout).toBe(
    `Name\tDisplay name\tId\tCurrent\nacme\tAcme Inc.\t${organization.id}\tcurrent\nother\tOther\t${other.id}\t\n`,
  );
  expect(await cloud(`organizations select ${other.id}`)).toMatchObject({ status: 0 });
  expect(await stored()).toContain('organization = "other"');
  expect(await stored()).not.toContain('pk_old');
  expect(JSON.parse((await cloud('organizations list --json')).stdout).organizations).toEqual([
    { ...organization, current: false },
    { ...other, current: true },
  ]);
  expect(await cloud('organizations select none')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Your organizations: acme, other.'),
  });
});

test('login in a browser shows the code, opens the page, waits for the approval and stores the token', async () => {
  const token = `pcc_pat_${privateKey.slice(3)}`;
  const answers = [createApiError('authorization-pending'), createApiError('slow-down'), simulatedDisconnectError];
  const opened: string[] = [];
  const person = await startFakeService(
    { privateKey: token, publicKey },
    {
      startDeviceLogin: () => deviceLogin,
      pollDeviceLogin: () => {
        const refusal = answers.shift();
        if (refusal !== undefined) throw refusal;
        return { access_token: token, token_type: 'Bearer', expires_in: 60 };
      },
      listOrganizations: () => ({ organizations: [organization, other] }),
      getUser: () => ({
        id: organization.id,
        email: 'ada@example.com',
        name: 'Ada',
        hasPassword: true,
        organizations: [{ ...other, role: 'member', viewersCanStartSessions: false }],
      }),
      signOut: () => ({ status: 'OK' }),
    },
  );
  onTestFinished(() => person.close());
  const run = (line: string, given: RunOptions = {}) =>
    cloud(line, { ...given, variables: { BOTCLI_API_URL: person.origin } });
  const onBrowser = (url: string) => opened.push(url) > 0;
  const outcome = await run('auth login', { terminal: true, answers: ['other'], onBrowser });
  expect(outcome).toMatchObject({ status: 0, stderr: expect.stringContaining('approve the code ABCD-EFGH') });
  expect(outcome.stdout + outcome.stderr).not.toContain(token);
  expect(opened).toEqual(['http://service/device?code=ABCD-EFGH']);
  expect(await stored()).toBe(`api_url = "${person.origin}"\norganization = "other"\nprivate_key = "${token}"\n`);
  expect((await run('auth whoami')).stdout).toContain('Person\tada@example.com (member)\n');

  expect((await run('auth logout --yes')).stdout).toContain('Token\trevoked\n');
  expect(person.requests.at(-1)).toMatchObject({ operation: 'signOut', key: token });
  expect(await stored()).toBe(`api_url = "${person.origin}"\n`);
});

test.each([[''], [' --json']])(
  'login --no-browser%s without a terminal prints the URL and the code, waits, and stores the token',
  async (json) => {
    const token = `pcc_pat_${privateKey.slice(3)}`;
    const refusals = [createApiError('authorization-pending'), simulatedDisconnectError];
    const person = await startFakeService(
      { privateKey: token, publicKey },
      {
        startDeviceLogin: () => deviceLogin,
        pollDeviceLogin: () => {
          const refusal = refusals.shift();
          if (refusal !== undefined) throw refusal;
          return { access_token: token, token_type: 'Bearer', expires_in: 60 };
        },
        listOrganizations: () => ({ organizations: [organization] }),
      },
    );
    onTestFinished(() => person.close());
    const onBrowser = () => {
      throw new Error('--no-browser opens no page.');
    };
    const variables = { BOTCLI_API_URL: person.origin };
    const outcome = await cloud(`auth login --no-browser${json}`, { onBrowser, variables });
    expect(outcome).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^Open http:\/\/service\/device and approve the code ABCD-EFGH\n/),
    });
    expect(outcome.stdout + outcome.stderr).not.toContain(token);
    if (json !== '') expect(JSON.parse(outcome.stdout)).toMatchObject({ apiUrl: person.origin, organization });
    expect(await stored()).toContain(`private_key = "${token}"`);
  },
);

test('a login in a browser ends when the code expires while the service cannot be reached', async () => {
  const lost = await startFakeService(
    { privateKey, publicKey },
    {
      startDeviceLogin: () => deviceLogin,
      pollDeviceLogin: () => {
        throw simulatedDisconnectError;
      },
    },
  );
  onTestFinished(() => lost.close());
  let nowMs = 0;
  const monotonicMs = () => (nowMs += 400_000);
  const outcome = await cloud('auth login --no-browser', { monotonicMs, variables: { BOTCLI_API_URL: lost.origin } });
  expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining('was not approved in time') });
});

test.each([
  ['is denied', 'device-login-denied', 'The login was denied.'],
  ['expires', 'device-code-expired', 'was not approved in time'],
] as const)('a login in a browser stores nothing if the login %s', async (_, reason, message) => {
  const refusing = await startFakeService(
    { privateKey, publicKey },
    {
      startDeviceLogin: () => ({ ...deviceLogin, verification_uri_complete: 'file:///etc/passwd' }),
      pollDeviceLogin: () => {
        throw createApiError(reason);
      },
    },
  );
  onTestFinished(() => refusing.close());
  const onBrowser = () => {
    throw new Error('Only web pages are opened.');
  };
  const variables = { BOTCLI_API_URL: refusing.origin };
  const outcome = await cloud('auth login', { terminal: true, onBrowser, variables });
  expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  expect(await stored()).toBe('');
});

test('logout removes a token that cannot be revoked, and says that it stays valid', async () => {
  await writeProfile(place.file, { api_url: 'http://127.0.0.1:9', private_key: `pcc_pat_${privateKey.slice(3)}` });
  const outcome = await cloud('auth logout --yes');
  expect(outcome).toMatchObject({ status: 0, stderr: expect.stringContaining('the token stays valid') });
  expect(await stored()).toBe('api_url = "http://127.0.0.1:9"\n');
});
