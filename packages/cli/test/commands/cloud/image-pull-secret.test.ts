import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createApiError,
  type ImagePullSecretCheck,
  type PutSecretsRequest,
  type SecretWriteResult,
} from '@bothost/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { simulatedDisconnectError } from '../../fake-service/fake-service.ts';
import { organization } from '../../fake-service/records.ts';
import type { RunOptions } from '../../run-program.ts';
import { type Expectation, startServiceWith, useCommands } from '../use-commands.ts';

const secret = 'me:Pa:ss wörd';
const encoded = Buffer.from(secret).toString('base64');
const forms = [secret, 'Pa:ss wörd', encoded, Buffer.from('Pa:ss wörd').toString('base64')];
const now = '2026-11-20T17:00:00.000Z';

describe('botcli cloud secrets image-pull-secret', () => {
  let before: number | null;
  let change: SecretWriteResult['change'];
  let verification: ImagePullSecretCheck;

  const commands = useCommands('cloud secrets', () =>
    startServiceWith({
      getProperties: () => ({ properties: { defaultRegion: 'us-west' } }),
      listOrganizations: () => ({ organizations: [organization] }),
      putSecrets: ({ body, params }) => written(body as PutSecretsRequest, params['setName'] ?? ''),
      verifyImagePullSecret: ({ params }) => {
        if (params['setName'] === 'gone') throw createApiError('secret-set-not-found');
        return { status: 'OK', name: 'hub', host: 'ghcr.io', revision: 1, expiresAt: null, verification };
      },
    }),
  );

  beforeEach(() => {
    before = null;
    change = 'created';
    const message = 'The registry accepts the credentials.';
    verification = { result: 'verified', message, image: null, checkedAt: now };
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

  /** Runs the command, and checks that the credentials are in no output. */
  const run = (args: readonly string[], expected: Expectation = {}, given: RunOptions = {}) =>
    commands.run(['image-pull-secret', ...args], { hides: forms, ...expected }, given);
  const bodies = () =>
    commands.service.requests.filter(({ operation }) => operation === 'putSecrets').map(({ body }) => body);
  const whole = { isImagePullSecret: true, host: 'ghcr.io', secretValue: encoded };

  it.each([
    ['created', null],
    ['replaced', 3],
  ] as const)('stores the credentials without a confirmation, and reports the secret as %s', async (word, revision) => {
    before = revision;
    change = revision === null ? 'created' : 'updated';
    for (const terminal of [true, false]) {
      await run(['hub', 'https://GHCR.io/', secret], { stdout: [word, 'fingerprint 1a2b3c4d'] }, { terminal });
    }
    expect(bodies()).toEqual([whole, whole]);
  });

  it('if no response arrives, reports that the secret was stored either completely or not at all', async () => {
    await run(['lost', 'ghcr.io', secret, '--skip'], {
      status: 1,
      wholeStdout: '',
      stderr: 'stored completely or not at all',
    });
  });

  it('reports that the stored credentials are unchanged if they equal the given credentials', async () => {
    before = 3;
    change = 'none';
    await run(['hub', 'ghcr.io', secret], { stdout: 'unchanged' }, { terminal: true });
    expect(bodies()).toEqual([whole]);
  });

  it('accepts credentials as an argument, from a prompt, from standard input and from a Docker config file', async () => {
    const file = join(commands.directory, 'config.json');
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
      await run(args, {}, given);
      expect(bodies().at(-1), args.join(' ')).toEqual(whole);
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
    await run(['hub', 'ghcr.io', text, ...options], { status: 1, stderr: message, requests: [] });
  });

  it('warns about a password that looks like encoded credentials', async () => {
    await run(['hub', 'ghcr.io', `me:${encoded}`], { stderr: 'looks like encoded credentials' });
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
    await run(args, { status, stderr: message, requests: [] });
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
    await writeFile(
      join(commands.directory, 'config.json'),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
    const expected = message === null ? {} : { status: 1, stderr: message };
    await run(['hub', 'ghcr.io', '--from-docker-config', 'config.json'], expected);
    if (message === null) expect(bodies().at(-1)).toMatchObject(whole);
  });

  it('names the Docker configuration file in the error if the file cannot be read', async () => {
    await run(['hub', 'ghcr.io', '--from-docker-config', 'none.json'], {
      status: 1,
      stderr: 'Cannot read none.json (ENOENT)',
    });
  });

  it('--verify shows the result from the registry, and exits with 1 if the credentials are rejected', async () => {
    await run(['hub', 'ghcr.io', secret, '--verify', '--json'], {
      json: { name: 'hub', host: 'ghcr.io', verification },
    });
    expect(commands.service.requests.at(-1)?.body).toBeUndefined();
    for (const result of ['unreachable', 'skipped'] as const) {
      verification = { ...verification, result, message: 'Nothing answers there.' };
      await run(['hub', 'ghcr.io', secret, '--image', 'team/app:1'], {
        stdout: result,
        stderr: 'Nothing answers there.',
      });
      expect(commands.service.requests.at(-1)?.body).toEqual({ image: 'team/app:1' });
    }
    verification = { ...verification, result: 'rejected', message: 'The registry rejects the credentials.' };
    await run(['hub', 'ghcr.io', secret, '--verify', '--json'], {
      status: 1,
      json: {
        error: { reason: 'credentials-rejected', details: { verification } },
      },
    });
  });

  it('--expires sets the expiry and warns about credentials that expire soon', async () => {
    const stderr = 'the credentials of hub expire at 2026-11-21T05:00:00Z; set new ones before';
    await run(['hub', 'ghcr.io', secret, '--expires', '12h'], { stderr });
    expect(bodies().at(-1)).toMatchObject({ expiresAt: '2026-11-21T05:00:00.000Z' });
    await run(['hub', 'ghcr.io', secret, '--expires', '90d'], { hides: 'expire at' });
  });

  it('--dry-run writes nothing and needs no confirmation', async () => {
    await run(['hub', 'ghcr.io', secret, '--dry-run', '-r', 'eu', '--json'], {
      json: { change: 'created', dryRun: true, region: 'eu' },
    });
    expect(bodies()).toEqual([{ ...whole, region: 'eu', dryRun: true }]);
  });

  it('`secrets verify` verifies a stored secret', async () => {
    await commands.run('verify hub --image team/app', {
      stdout: 'Verification\tverified\nChecked\t2026-11-20T17:00:00.000Z\nResult\tThe registry accepts',
      lastRequest: { operation: 'verifyImagePullSecret', body: { image: 'team/app' } },
    });
    verification = { ...verification, result: 'rejected', message: 'The registry rejects the credentials.' };
    const error = { reason: 'credentials-rejected', details: { verification } };
    await commands.run('verify hub --json', { status: 1, json: { error } });
    await commands.run('verify gone', { status: 1, stderr: 'Secret set "gone" does not exist' });
    await commands.run('verify a/b', { status: 1, stderr: 'Invalid name' });
  });
});
