import { readFile } from 'node:fs/promises';
import { createApiError } from '@bothost/contract';
import { expect, onTestFinished, test } from 'vitest';
import { writeProfile } from '../../../src/connection/profile.ts';
import { simulatedDisconnectError, startFakeService } from '../../fake-service/fake-service.ts';
import { mistypedKey, organization, privateKey, publicKey } from '../../fake-service/records.ts';
import type { RunOptions } from '../../run-program.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const other = { id: '01930000-0000-7000-8000-0000000000ff', name: 'other', verboseName: 'Other' };
const token = `pcc_pat_${privateKey.slice(3)}`;
const deviceLogin = {
  device_code: 'device',
  user_code: 'ABCD-EFGH',
  verification_uri: 'http://service/device',
  verification_uri_complete: 'http://service/device?code=ABCD-EFGH',
  expires_in: 600,
  interval: 5,
};
const commands = useCommands(
  'cloud',
  () => startServiceWith({ listOrganizations: () => ({ organizations: [organization, other] }) }),
  { BOTCLI_TOKEN: '' },
);
const { run } = commands;
const stored = () => readFile(commands.profile, 'utf8').catch(() => '');
const keep = (profile: Parameters<typeof writeProfile>[1]) => writeProfile(commands.profile, profile);
const givenKey: RunOptions = { stdin: privateKey };

test.each<[string, string, string, RunOptions]>([
  ['login', 'the environment', '', { variables: { BOTCLI_TOKEN: privateKey } }],
  ['login', 'standard input', ' --with-token', { stdin: `${privateKey}\n` }],
  ['use-pat', 'standard input', ' --with-token', { stdin: `${privateKey}\n` }],
  ['use-pat', 'a hidden prompt', '', { terminal: true, answers: [privateKey, 'acme'] }],
])(
  'the command %s with a key from %s verifies and stores the key without printing it',
  async (command, _, flags, given) => {
    const requests = [{ path: '/v1/organizations', key: privateKey }];
    await run(`auth ${command}${flags}`, { hides: privateKey, requests }, given);
    const profile = `api_url = "${commands.service.origin}"\norganization = "acme"\nprivate_key = "${privateKey}"\n`;
    expect(await stored()).toBe(profile);
  },
);

test.each<[string, string, Parameters<typeof run>[1], RunOptions]>([
  ['a key as an argument', `login ${privateKey}`, { status: 2 }, {}],
  ['no terminal and no key', 'login', { status: 2, stderr: ['--with-token < FILE', 'Pass --no-browser'] }, {}],
  ['an empty key', 'login --with-token', { status: 2 }, { stdin: '\n' }],
  [
    'a mistyped key, which it sends',
    'login --with-token',
    {
      status: 1,
      stderr: ['may be mistyped', 'The API key or token is unknown, revoked, expired or of the wrong kind.'],
    },
    { stdin: mistypedKey },
  ],
  [
    'a public key, which it does not send',
    'login --with-token',
    { status: 1, stderr: 'is a public key', requests: [] },
    { stdin: publicKey },
  ],
  ['Ctrl-C at the prompt', 'use-pat', { status: 130 }, { terminal: true, answers: ['ctrl-c'] }],
])('a login with %s stores nothing', async (_, line, expected, given) => {
  await run(`auth ${line}`, expected, given);
  expect(await stored()).toBe('');
});

test('login stores the requested organization, or fails if the key does not belong to it', async () => {
  await run('auth login --with-token -o other', {}, givenKey);
  expect(await stored()).toContain('organization = "other"');
  const stderr = 'no access to the organization "elsewhere"';
  await run('auth login --with-token -o elsewhere', { status: 1, stderr }, givenKey);
});

test('login to another service removes the public API key of the previous service from the profile', async () => {
  await keep({ api_url: 'http://old', organization: 'acme', public_key: 'pk_old' });
  const stderr = 'belonged to another organization or service and was removed';
  await run('auth login --with-token', { stderr }, givenKey);
  expect(await stored()).not.toContain('pk_old');
});

test('login to the same service and organization keeps the stored public key', async () => {
  await keep({ api_url: commands.service.origin, organization: 'acme', public_key: 'pk_mine' });
  await run('auth login --with-token', {}, givenKey);
  expect(await stored()).toContain('public_key = "pk_mine"');
});

test.each(['auth status', 'auth whoami'])(
  'the command %s shows the service, the organization and where the keys are stored, but no key',
  async (line) => {
    await keep({ private_key: privateKey, public_key: publicKey });
    const source = { source: commands.profile };
    await run(`${line} --json`, {
      wholeJson: {
        apiUrl: commands.service.origin,
        profile: commands.profile,
        person: null,
        organization,
        organizations: [organization, other],
        privateKey: source,
        publicKey: source,
      },
      wholeStderr: '',
    });
    await run(line, { stdout: 'Organization\tacme\n', hides: privateKey });
  },
);

commands.table([['auth status', { status: 1, stderr: 'auth login' }]]);

test('logout asks for confirmation, removes the API keys and the organization from the profile, and keeps the service URL', async () => {
  const { origin } = commands.service;
  const answer = (isYes: boolean) => ({ terminal: true, answers: [isYes] });
  await keep({ api_url: origin, organization: 'acme', private_key: privateKey, public_key: publicKey });
  await run('auth logout', { status: 2, stderr: '--yes' });
  await run('auth logout', { status: 1 }, answer(false));
  expect(await stored()).toContain(privateKey);
  await run('auth logout', {}, answer(true));
  expect(await stored()).toBe(`api_url = "${origin}"\n`);
  await run('auth logout --json', { json: { loggedOut: false } });
});

test('organizations select accepts an ID, removes the public API key of the previous organization, and rejects an unknown name', async () => {
  await keep({ private_key: privateKey, organization: 'acme', public_key: 'pk_old' });
  await run('organizations list', {
    wholeStdout: `Name\tDisplay name\tId\tCurrent\nacme\tAcme Inc.\t${organization.id}\tcurrent\nother\tOther\t${other.id}\t\n`,
  });
  await run(`organizations select ${other.id}`, {});
  expect(await stored()).toContain('organization = "other"');
  expect(await stored()).not.toContain('pk_old');
  await run('organizations list --json', {
    json: {
      organizations: [
        { ...organization, current: false },
        { ...other, current: true },
      ],
    },
  });
  await run('organizations select none', { status: 1, stderr: 'Your organizations: acme, other.' });
});

/** Starts a service in which a person can log in with a device code. `refusals` are the results of the first polls. */
async function startLoginService(
  refusals: Error[],
  { device = deviceLogin, organizations = [organization, other] } = {},
) {
  const service = await startFakeService(
    { privateKey: token, publicKey },
    {
      startDeviceLogin: () => device,
      pollDeviceLogin: () => {
        const refusal = refusals.shift();
        if (refusal !== undefined) throw refusal;
        return { access_token: token, token_type: 'Bearer', expires_in: 60 };
      },
      listOrganizations: () => ({ organizations }),
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
  onTestFinished(() => service.close());
  return { service, variables: { BOTCLI_API_URL: service.origin } };
}
const opensNoPage = () => {
  throw new Error('This login opens no page.');
};

test('login in a browser shows the code, opens the page, waits for the approval and stores the token', async () => {
  const refusals = [createApiError('authorization-pending'), createApiError('slow-down'), simulatedDisconnectError];
  const { service, variables } = await startLoginService(refusals);
  const opened: string[] = [];
  const onBrowser = (url: string) => opened.push(url) > 0;
  const expected = { stderr: 'approve the code ABCD-EFGH', hides: token };
  await run('auth login', expected, { terminal: true, answers: ['other'], onBrowser, variables });
  expect(opened).toEqual(['http://service/device?code=ABCD-EFGH']);
  expect(await stored()).toBe(`api_url = "${service.origin}"\norganization = "other"\nprivate_key = "${token}"\n`);
  await run('auth whoami', { stdout: 'Person\tada@example.com (member)\n' }, { variables });

  await run('auth logout --yes', { stdout: 'Token\trevoked\n' }, { variables });
  expect(service.requests.at(-1)).toMatchObject({ operation: 'signOut', key: token });
  expect(await stored()).toBe(`api_url = "${service.origin}"\n`);
});

test.each([
  ['', {}],
  [' --json', { json: { organization } }],
])(
  'login --no-browser%s without a terminal prints the URL and the code, waits, and stores the token',
  async (json, document) => {
    const refusals = [createApiError('authorization-pending'), simulatedDisconnectError];
    const { service, variables } = await startLoginService(refusals, { organizations: [organization] });
    const stderr = /^Open http:\/\/service\/device and approve the code ABCD-EFGH\n/;
    const outcome = await run(
      `auth login --no-browser${json}`,
      { stderr, hides: token, ...document },
      { onBrowser: opensNoPage, variables },
    );
    if (json !== '') expect(JSON.parse(outcome.stdout)).toMatchObject({ apiUrl: service.origin });
    expect(await stored()).toContain(`private_key = "${token}"`);
  },
);

test('a login in a browser ends when the code expires while the service cannot be reached', async () => {
  const { variables } = await startLoginService(Array.from({ length: 9 }, () => simulatedDisconnectError));
  let nowMs = 0;
  const monotonicMs = () => (nowMs += 400_000);
  const expected = { status: 1, stderr: 'was not approved in time' };
  await run('auth login --no-browser', expected, { monotonicMs, variables });
});

test.each([
  ['is denied', 'device-login-denied', 'The login was denied.'],
  ['expires', 'device-code-expired', 'was not approved in time'],
] as const)('a login in a browser stores nothing if the login %s', async (_, reason, stderr) => {
  const device = { ...deviceLogin, verification_uri_complete: 'file:///etc/passwd' };
  const { variables } = await startLoginService([createApiError(reason)], { device });
  await run('auth login', { status: 1, stderr }, { terminal: true, onBrowser: opensNoPage, variables });
  expect(await stored()).toBe('');
});

test('logout removes a token that cannot be revoked, and says that it stays valid', async () => {
  await keep({ api_url: 'http://127.0.0.1:9', private_key: token });
  await run('auth logout --yes', { stderr: 'the token stays valid' });
  expect(await stored()).toBe('api_url = "http://127.0.0.1:9"\n');
});
