import { readFile } from 'node:fs/promises';
import { createApiError } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeService, startFakeService } from '../../fake-service/fake-service.ts';
import { apiKey, privateKey, publicKey } from '../../fake-service/records.ts';
import { createProfilePath } from '../../profile-file.ts';
import { type RunOptions, runProgram } from '../../run-program.ts';

const made = { ...apiKey, name: 'web', kind: 'public' as const, key: 'pk_new', start: 'pk_new' };
const revokedAt = '2026-11-20T16:30:00.000Z';
let service: FakeService;
let place: Awaited<ReturnType<typeof createProfilePath>>;

beforeEach(async () => {
  place = await createProfilePath();
  service = await startFakeService(
    { privateKey, publicKey },
    {
      createKey: () => made,
      listKeys: () => ({
        keys: [
          { ...apiKey, start: privateKey.slice(0, 8) },
          { ...apiKey, id: made.id.replace('4', '5'), name: 'old\tone', expiresAt: revokedAt },
          { ...made, revokedAt },
        ],
      }),
      revokeKey: ({ params }) => {
        if (params['keyId'] !== apiKey.id) throw createApiError('key-not-found');
        return { ...apiKey, revokedAt };
      },
    },
  );
});
afterEach(async () => {
  await service.close();
  await place.remove();
});

const keys = (line: string, given: RunOptions = {}) =>
  runProgram(['cloud', 'keys', ...line.split(' ')], {
    variables: { BOTCLI_CONFIG: place.file, BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey },
    ...given,
  });

test('create sends the name, kind and lifetime in seconds, and prints the key', async () => {
  const { status, stdout, stderr } = await keys('create web --kind public --expires 90d');
  expect(service.requests.at(-1)?.body).toEqual({ name: 'web', kind: 'public', expiresInSeconds: 90 * 86_400 });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^Key\tpk_new\nId\t/);
  expect(stderr).toBe('');
  expect((await keys('create ci --kind private')).stderr).toBe('Save the key now: it cannot be shown again.\n');
  expect(JSON.parse((await keys('create web --kind public --json')).stdout)).toEqual({ ...made, keptInProfile: false });
  expect(service.requests.at(-1)?.body).toEqual({ name: 'web', kind: 'public' });
});

test('create --default stores a public key in the profile, and refuses to create a private key', async () => {
  expect(await keys('create web --kind public --default')).toMatchObject({ status: 0 });
  expect(await readFile(place.file, 'utf8')).toBe('public_key = "pk_new"\n');
  const asked = service.requests.length;
  expect(await keys('create ci --kind private --default')).toMatchObject({ status: 2 });
  expect(service.requests).toHaveLength(asked);
});

test.each(['90', '0d', 'd', '-1d', '4000d', '1y'])('create rejects the lifetime %s', async (life) => {
  expect(await keys(`create web --kind public --expires=${life}`)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--expires takes a duration like 12h, 90d or 2w'),
  });
});

test('create requires --kind', async () => {
  expect(await keys('create web')).toMatchObject({ status: 2, stderr: expect.stringContaining('--kind is missing') });
});

test('list shows the status of each key (active, expired or revoked), and public keys in full', async () => {
  const [header, ...rows] = (await keys('list')).stdout.slice(0, -1).split('\n');
  expect(header?.split('\t')[4]).toBe('Status');
  expect(rows.map((row) => row.split('\t')[4])).toEqual(['Active', 'Expired', 'Revoked']);
  expect(rows.map((row) => row.split('\t')[3])).toEqual([`${privateKey.slice(0, 8)}...`, 'sk_1234...', 'pk_new']);
  expect(rows.every((row) => row.split('\t').length === 8)).toBe(true);
});

test('revoke shows the name of the key in its confirmation prompt, and warns if botcli itself uses the key', async () => {
  const outcome = await keys(`revoke ${apiKey.id}`, { terminal: true, answers: [true] });
  expect(outcome.stderr).toContain('? Revoke the private key "first", which this command is using?');
  expect(outcome.status).toBe(0);
  expect(service.requests.at(-1)?.operation).toBe('revokeKey');
});

test('revoke requires --yes without a terminal, and revokes nothing if the user answers no', async () => {
  expect(await keys(`revoke ${apiKey.id}`)).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  expect(await keys(`revoke ${apiKey.id}`, { terminal: true, answers: [false] })).toMatchObject({ status: 1 });
  expect(service.requests.filter(({ operation }) => operation === 'revokeKey')).toEqual([]);
  const { status, stdout } = await keys(`revoke ${apiKey.id} --yes --json`);
  expect({ status, document: JSON.parse(stdout) }).toEqual({ status: 0, document: { ...apiKey, revokedAt } });
  expect(await keys('revoke unknown --yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('API key "unknown" does not exist.'),
  });
});
