import { readFile } from 'node:fs/promises';
import { createApiError } from '@bothost/contract';
import { expect, test } from 'vitest';
import { apiKey, privateKey } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const made = { ...apiKey, name: 'web', kind: 'public' as const, key: 'pk_new', start: 'pk_new' };
const revokedAt = '2026-11-20T16:30:00.000Z';
const keys = useCommands('cloud keys', () =>
  startServiceWith({
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
  }),
);

test('create sends the name, kind and lifetime in seconds, and prints the key', async () => {
  await keys.run('create web --kind public --expires 90d', {
    stdout: /^Key\tpk_new\nId\t/,
    wholeStderr: '',
    requests: [{ body: { name: 'web', kind: 'public', expiresInSeconds: 90 * 86_400 } }],
  });
  await keys.run('create ci --kind private', { wholeStderr: 'Save the key now: it cannot be shown again.\n' });
  await keys.run('create web --kind public --json', {
    wholeJson: { ...made, keptInProfile: false },
    requests: [{ body: { name: 'web', kind: 'public' } }],
  });
});

test('create --default stores a public key in the profile, and refuses to create a private key', async () => {
  await keys.run('create web --kind public --default', {});
  expect(await readFile(keys.profile, 'utf8')).toBe('public_key = "pk_new"\n');
  await keys.run('create ci --kind private --default', { status: 2, requests: [] });
});

keys.table([
  ...['90', '0d', 'd', '-1d', '4000d', '1y'].map(
    (life) =>
      [
        `create web --kind public --expires=${life}`,
        { status: 2, stderr: '--expires takes a duration like 12h, 90d or 2w' },
      ] as const,
  ),
  ['create web', { status: 2, stderr: '--kind is missing' }],
  ['revoke unknown --yes', { status: 1, stderr: 'API key "unknown" does not exist.' }],
]);

test('list shows the status of each key (active, expired or revoked), and public keys in full', async () => {
  const [header, ...rows] = (await keys.run('list')).stdout.slice(0, -1).split('\n');
  expect(header?.split('\t')[4]).toBe('Status');
  expect(rows.map((row) => row.split('\t')[4])).toEqual(['Active', 'Expired', 'Revoked']);
  expect(rows.map((row) => row.split('\t')[3])).toEqual([`${privateKey.slice(0, 8)}...`, 'sk_1234...', 'pk_new']);
  expect(rows.every((row) => row.split('\t').length === 8)).toBe(true);
});

test('revoke asks with the name of the key and says that botcli itself uses it, or requires --yes', async () => {
  await keys.run(`revoke ${apiKey.id}`, { status: 2, stderr: '--yes' });
  await keys.run(`revoke ${apiKey.id}`, { status: 1, requests: ['listKeys'] }, { terminal: true, answers: [false] });
  await keys.run(
    `revoke ${apiKey.id}`,
    { stderr: '? Revoke the private key "first", which this command is using?', lastRequest: 'revokeKey' },
    { terminal: true, answers: [true] },
  );
  await keys.run(`revoke ${apiKey.id} --yes --json`, { wholeJson: { ...apiKey, revokedAt } });
});
