import { createApiError } from '@bothost/contract';
import { expect, test } from 'vitest';
import { startServiceWith, useCommands } from '../use-commands.ts';

const connection = {
  provider: 'daily',
  account: 'example',
  signsDialin: false,
  openRooms: 2,
  connectedAt: '2026-11-20T16:30:00.000Z',
} as const;
const rooms = useCommands('cloud rooms', () =>
  startServiceWith({
    connectRooms: ({ params, body }) => {
      if (params['provider'] !== 'daily') throw createApiError('rooms-not-found');
      return {
        ...connection,
        signsDialin: typeof (body as { dialinSecret?: string | null }).dialinSecret === 'string',
      };
    },
    listRoomConnections: () => ({ connections: [connection] }),
    disconnectRooms: ({ query }) => {
      if (query['force'] !== 'true') throw createApiError('rooms-open');
      return connection;
    },
    getDialinWebhook: ({ params }) => ({
      url: `https://bots.example.com/v1/public/webhooks/home/${params['agentName']}/dialin?secret=x`,
      isSigned: false,
    }),
  }),
);

test('connect reads the key from a hidden prompt or standard input, and never shows it', async () => {
  await rooms.run(
    'connect daily',
    {
      stdout: [/Connected\W.*daily/, /Domain\W.*example/, 'secret address for each agent'],
      hides: 'top-secret',
      requests: [{ operation: 'connectRooms', body: { apiKey: 'top-secret' } }],
    },
    { terminal: true, answers: [' top-secret '] },
  );
  await rooms.run(
    'connect daily --dialin-secret --json',
    {
      json: { signsDialin: true },
      hides: 'top-secret',
      requests: [{ body: { apiKey: 'top-secret', dialinSecret: 'c2VjcmV0' } }],
    },
    { stdin: 'top-secret\nc2VjcmV0\n' },
  );
});

rooms.table([
  ['connect daily', { status: 2, stderr: 'Standard input must have the key', requests: [] }, { stdin: '\n' }],
  ['connect daily --dialin-secret', { status: 2, requests: [] }, { stdin: 'key\n' }],
  ['connect daily', { status: 1, stderr: 'No key was given', requests: [] }, { terminal: true, answers: [''] }],
  ['connect livekit', { status: 1, stderr: 'PROVIDER must be daily, not "livekit"', requests: [] }, { stdin: 'key' }],
  [
    'connect daily --no-dialin-secret',
    { requests: [{ body: { apiKey: 'key', dialinSecret: null } }] },
    { stdin: 'key' },
  ],
  ['disconnect daily', { status: 2, stderr: '--yes' }],
  ['disconnect daily --yes', { status: 1, stderr: 'Rooms of sessions still exist' }],
  ['disconnect daily --yes --force', { stdout: 'Disconnected\tdaily', lastRequest: 'disconnectRooms' }],
]);

test('list shows the domain, and how many rooms exist', async () => {
  const [header, row] = (await rooms.run('list')).stdout.split('\n');
  expect(header?.split('\t')).toEqual(['Provider', 'Domain', 'Incoming calls', 'Rooms', 'Connected']);
  expect(row?.split('\t').slice(0, 4)).toEqual(['daily', 'example', 'secret address for each agent', '2']);
});

test('dialin prints the address for the phone number', async () => {
  await rooms.run('dialin receptionist', {
    stdout: ['/webhooks/home/receptionist/dialin?secret=x', 'Checked by\tthe secret in the address'],
  });
});
