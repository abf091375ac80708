import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createApiError,
  type ImagePullSecretCheck,
  type PutSecretsRequest,
  type SecretWriteResult,
} from '@bothost/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeService, simulatedDisconnectError, startFakeService } from '../../fake-service/fake-service.ts';
import { organization, privateKey, publicKey } from '../../fake-service/records.ts';
import { type RunOptions, runProgram } from '../../run-program.ts';

const secret = 'me:Pa:ss wörd';
const encoded = Buffer.from(secret).toString('base64');
const forms = [secret, 'Pa:ss wörd', encoded, Buffer.from('Pa:ss wörd').toString('base64')];
const now = '2026-11-20T17:00:00.000Z';

describe('botcli cloud secrets image-pull-secret', () => {
  let service: FakeService;
  let directory: string;
  let before: number | null;
  let change: SecretWriteResult['change'];
  let verification: ImagePullSecretCheck;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-pull-'));
    before = null;
    change = 'created';
    verification = {
      result: 'verified',
      message: 'The registry accepts the credentials.',
      image: null,
      checkedAt: now,
    };
    service = await startFakeService(
      { privateKey, publicKey },
      {
        getProperties: () => ({ properties: { defaultRegion: 'us-west' } }),
        listOrganizations: () => ({ organizations: [organization] }),
        putSecrets: ({ body, params }) => written(body as PutSecretsRequest, params['setName'] ?? ''),
        verifyImagePullSecret: ({ params }) => {
          if (params['setName'] === 'gone') throw createApiError('secret-set-not-found');
          return { status: 'OK', name: 'hub', host: 'ghcr.io', revision: 1, expiresAt: null, verification };
        },
      },
    );
  });
  afterEach(async () => {
    await service.close();
    await rm(directory, { recursive: true, force: true });
  });

  function written(body: PutSecretsRequest, name: string): SecretWriteResult {
    if (name === 'lost' && body.dryRun !== true) throw simulatedDisconnectError;
    const revision = change === 'none' ? (before ?? 1) : (before ?? 0) + 1;
    return {
      status: 'OK',
      name,
      type: 'imagePullSecret',
      region: body.region ?? 'us-west',
      readiness: body.dryRun ? null : 'pending',
      revision: body.dryRun ? before : revision,
      previousRevision: before,
      change,
      dryRun: body.dryRun === true,
      host: body.host ?? '',
      expiresAt: body.expiresAt ?? null,
      changes: [
        {
          key: '.dockerconfigjson',
          change: change === 'none' ? 'unchanged' : change === 'created' ? 'new' : 'changed',
          bytes: 80,
          fingerprint: '1a2b3c4d',
        },
      ],
    };
  }

  const run = (args: readonly string[], given: RunOptions = {}) =>
    runProgram(['cloud', 'secrets', 'image-pull-secret', ...args], {
      variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey },
      directory,
      ...given,
    });
  const bodies = () => service.requests.filter(({ operation }) => operation === 'putSecrets').map(({ body }) => body);
  const shownNowhere = (outcome: { stdout: string; stderr: string }) => {
    for (const form of forms) expect(outcome.stdout + outcome.stderr).not.toContain(form);
  };
  const whole = { isImagePullSecret: true, host: 'ghcr.io', secretValue: encoded };

  it.each([
    ['created', null],
    ['replaced', 3],
  ] as const)('stores the credentials without a confirmation, and reports the secret as %s', async (word, revision) => {
    before = revision;
    change = revision === null ? 'created' : 'updated';
    for (const terminal of [true, false]) {
      const outcome = await run(['hub', 'https://GHCR.io/', secret], { terminal });
      expect(outcome).toMatchObject({ status: 0, stdout: expect.stringContaining(word) });
      expect(outcome.stdout).toContain('fingerprint 1a2b3c4d');
      shownNowhere(outcome);
    }
    expect(bodies()).toEqual([whole, whole]);
  });

  it('if no response arrives, reports that the secret was stored either completely or not at all', async () => {
    const outcome = await run(['lost', 'ghcr.io', secret, '--skip']);
    expect(outcome).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('stored completely or not at all'),
    });
    shownNowhere(outcome);
  });

  it('reports that the stored credentials are unchanged if they equal the given credentials', async () => {
    before = 3;
    change = 'none';
    const outcome = await run(['hub', 'ghcr.io', secret], { terminal: true });
    expect(outcome).toMatchObject({ status: 0, stdout: expect.stringContaining('unchanged') });
    expect(bodies()).toEqual([whole]);
  });

  it('accepts credentials as an argument, from a prompt, from standard input and from a Docker config file', async () => {
    const file = join(directory, 'config.json');
    await writeFile(
      file,
      JSON.stringify({ auths: { 'https://ghcr.io/v2/': { auth: encoded } }, credsStore: 'desktop' }),
    );
    const ways: [string[], RunOptions][] = [
      [['hub', 'ghcr.io', secret, '-s'], {}],
      [['hub', 'ghcr.io', secret, '--encode'], {}],
      [['hub', 'ghcr.io', encoded, '--no-encode'], {}],
      [['hub', 'ghcr.io'], { terminal: true, answers: [secret] }],
      [['hub', 'ghcr.io', '--no-encode'], { terminal: true, answers: [encoded] }],
      [['hub', 'ghcr.io', '--username', 'me'], { terminal: true, answers: ['Pa:ss wörd'] }],
      [['hub', 'ghcr.io', '--username', 'me', '--password-stdin'], { stdin: 'Pa:ss wörd\n' }],
      [['hub', 'ghcr.io', '--username', 'me', '--password-stdin'], { stdin: 'Pa:ss wörd\r\n' }],
      [['hub', 'ghcr.io', '--from-docker-config', 'config.json'], {}],
    ];
    for (const [args, given] of ways) {
      const outcome = await run(args, given);
      expect([args, outcome.status, bodies().at(-1)]).toEqual([args, 0, whole]);
      shownNowhere(outcome);
    }
  });

  it.each([
    ['nocolon', [], 'first colon'],
    [':password', [], 'first colon'],
    [encoded, [], '--no-encode'],
    [secret, ['--no-encode'], 'Omit --no-encode'],
    [`${encoded}=`, ['--no-encode'], 'strict'],
    ['bm9jb2xvbg==', ['--no-encode'], 'strict'],
    ['me:pass\nword', [], 'control character'],
    ['me:\ufffd', [], 'UTF-8'],
    [`me:${'x'.repeat(65_536)}`, [], 'longer'],
  ])('rejects the credentials %j with the options %j before any request', async (text, options, message) => {
    const outcome = await run(['hub', 'ghcr.io', text, ...options]);
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
    shownNowhere(outcome);
    expect(service.requests).toEqual([]);
  });

  it('warns about a password that looks like encoded credentials', async () => {
    const outcome = await run(['hub', 'ghcr.io', `me:${encoded}`]);
    expect(outcome).toMatchObject({ status: 0, stderr: expect.stringContaining('looks like encoded credentials') });
    shownNowhere(outcome);
  });

  it.each([
    [['bad_name', 'ghcr.io', secret], 1, 'Invalid name of a secret set'],
    [['hub', 'https://me:Pa:ss wörd@ghcr.io', secret], 1, 'Invalid registry'],
    [['hub', 'gһcr.io', secret], 1, 'Invalid registry'],
    [['hub', 'ghcr.io'], 2, '--password-stdin'],
    [['hub', 'ghcr.io', '--username', 'me'], 2, '--password-stdin'],
    [['hub', 'ghcr.io', '--password-stdin'], 2, 'needs --username'],
    [['hub', 'ghcr.io', secret, '--username', 'me'], 2, 'Use only one'],
    [['hub', 'ghcr.io', '--username', 'me', '--password-stdin', '--no-encode'], 2, '--no-encode'],
    [['hub', 'ghcr.io', secret, '--expires', 'soon'], 2, '--expires'],
    [['hub'], 2, 'host'],
  ])('rejects the arguments %j with exit status %s and the message %j', async (args, status, message) => {
    const outcome = await run(args);
    expect(outcome).toMatchObject({ status, stderr: expect.stringContaining(message) });
    shownNowhere(outcome);
    expect(service.requests).toEqual([]);
  });

  it.each([
    ['{', 'is not JSON'],
    ['[]', 'has no entry for ghcr.io'],
    [{ auths: {} }, 'has no entry for ghcr.io'],
    [{ auths: { 'ghcr.io': {} }, credsStore: 'desktop' }, 'docker-credential-desktop'],
    [{ credHelpers: { 'ghcr.io': 'gcloud' }, credsStore: 'desktop' }, 'docker-credential-gcloud'],
    [{ auths: { 'ghcr.io': { auth: encoded, identitytoken: 'x' } } }, 'token'],
    [{ auths: { 'ghcr.io': { username: 'me', password: 'Pa:ss wörd' } } }, 'has no "auth" field'],
    [{ auths: { 'ghcr.io': { auth: 'nope' } } }, 'not username:password'],
    [{ auths: { 'ghcr.io': { auth: encoded }, 'https://ghcr.io': { auth: btoa('other:one') } } }, null],
    [{ auths: { 'https://ghcr.io': { auth: encoded }, 'GHCR.io': { auth: btoa('other:one') } } }, 'several'],
  ])('reads a Docker configuration file with the content %j, or rejects it with: %s', async (content, message) => {
    await writeFile(join(directory, 'config.json'), typeof content === 'string' ? content : JSON.stringify(content));
    const outcome = await run(['hub', 'ghcr.io', '--from-docker-config', 'config.json']);
    shownNowhere(outcome);
    if (message === null) expect(bodies().at(-1)).toMatchObject(whole);
    else expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
  });

  it('names the Docker configuration file in the error if the file cannot be read', async () => {
    expect(await run(['hub', 'ghcr.io', '--from-docker-config', 'none.json'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Cannot read none.json (ENOENT)'),
    });
  });

  it('--verify shows the result from the registry, and exits with 1 if the credentials are rejected', async () => {
    const verified = await run(['hub', 'ghcr.io', secret, '--verify', '--json']);
    expect(verified.status).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({ name: 'hub', host: 'ghcr.io', verification });
    expect(service.requests.at(-1)?.body).toBeUndefined();
    for (const result of ['unreachable', 'skipped'] as const) {
      verification = { ...verification, result, message: 'Nothing answers there.' };
      const outcome = await run(['hub', 'ghcr.io', secret, '--image', 'team/app:1']);
      expect(outcome).toMatchObject({ status: 0, stdout: expect.stringContaining(result) });
      expect(outcome.stderr).toContain('Nothing answers there.');
      expect(service.requests.at(-1)?.body).toEqual({ image: 'team/app:1' });
    }
    verification = { ...verification, result: 'rejected', message: 'The registry rejects the credentials.' };
    const rejected = await run(['hub', 'ghcr.io', secret, '--verify', '--json']);
    expect(rejected.status).toBe(1);
    expect(JSON.parse(rejected.stdout)).toMatchObject({
      error: { reason: 'credentials-rejected', details: { verification } },
    });
    shownNowhere(rejected);
  });

  it('--expires sets the expiry and warns about credentials that expire soon', async () => {
    const outcome = await run(['hub', 'ghcr.io', secret, '--expires', '12h']);
    expect(bodies().at(-1)).toMatchObject({ expiresAt: '2026-11-21T05:00:00.000Z' });
    expect(outcome.stderr).toContain('the credentials of hub expire at 2026-11-21T05:00:00Z; set new ones before');
    expect((await run(['hub', 'ghcr.io', secret, '--expires', '90d'])).stderr).not.toContain('expire at');
  });

  it('--dry-run writes nothing and needs no confirmation', async () => {
    const outcome = await run(['hub', 'ghcr.io', secret, '--dry-run', '-r', 'eu', '--json']);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ change: 'created', dryRun: true, region: 'eu' });
    expect(bodies()).toEqual([{ ...whole, region: 'eu', dryRun: true }]);
  });

  it('`secrets verify` verifies a stored secret', async () => {
    const verify = (...args: string[]) =>
      runProgram(['cloud', 'secrets', 'verify', ...args], {
        variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey },
      });
    const { status, stdout } = await verify('hub', '--image', 'team/app');
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining(
        'Verification\tverified\nChecked\t2026-11-20T17:00:00.000Z\nResult\tThe registry accepts',
      ),
    });
    expect(service.requests.at(-1)).toMatchObject({ operation: 'verifyImagePullSecret', body: { image: 'team/app' } });
    verification = { ...verification, result: 'rejected', message: 'The registry rejects the credentials.' };
    const rejected = await verify('hub', '--json');
    expect([rejected.status, JSON.parse(rejected.stdout)]).toMatchObject([
      1,
      { error: { reason: 'credentials-rejected', details: { verification } } },
    ]);
    expect(await verify('gone')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('Secret set "gone" does not exist'),
    });
    expect(await verify('a/b')).toMatchObject({ status: 1, stderr: expect.stringContaining('Invalid name') });
  });
});
