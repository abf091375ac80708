import type { AnswerUrl, PhoneCall } from '@bothost/contract';
import { createApiError } from '@bothost/contract';
import { expect, test } from 'vitest';
import { sessionId } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const connectedAt = '2026-11-20T16:00:00.000Z';
const secret = 'a-secret-of-the-agent';
const answerUrls: AnswerUrl[] = [
  {
    carrier: 'twilio',
    url: 'https://bots.example.com/v1/public/webhooks/acme/parrot/twilio',
    method: 'POST',
    isReady: false,
  },
  {
    carrier: 'exotel',
    url: `https://bots.example.com/v1/public/webhooks/acme/parrot/exotel/${secret}`,
    method: 'GET',
    isReady: true,
  },
];
const refusedEarlier: PhoneCall = {
  id: '01930000-0000-7000-8000-0000000000aa',
  at: connectedAt,
  carrier: 'twilio',
  agentName: 'parrot',
  result: 'refused',
  reason: 'signature-wrong',
  message: 'An earlier call.',
  sessionId: null,
};
const answered: PhoneCall = {
  ...refusedEarlier,
  id: sessionId,
  result: 'answered',
  reason: null,
  message: null,
  sessionId,
};

/** The lists of calls that the service returns, one per request. The last one is repeated. */
let lists: PhoneCall[][] = [];
const phone = useCommands('cloud phone', () =>
  startServiceWith({
    listPhoneConnections: () => ({ connections: [{ carrier: 'twilio', connectedAt }] }),
    connectPhone: ({ params }) => ({ carrier: params['carrier'] === 'telnyx' ? 'telnyx' : 'twilio', connectedAt }),
    disconnectPhone: ({ params }) => {
      if (params['carrier'] !== 'twilio') throw createApiError('carrier-not-found');
      return { carrier: 'twilio', connectedAt };
    },
    listAnswerUrls: ({ params }) => {
      if (params['agentName'] !== 'parrot' && params['agentName'] !== 'connect') throw createApiError('not-found');
      return { answerUrls };
    },
    rotateAnswerUrls: ({ params }) => {
      if (params['agentName'] !== 'parrot') throw createApiError('not-found');
      return { answerUrls };
    },
    listPhoneCalls: () => ({ calls: (lists.length > 1 ? lists.shift() : lists[0]) ?? [] }),
  }),
);

phone.table([
  [
    'parrot',
    {
      stdout: [
        'https://bots.example.com/v1/public/webhooks/acme/parrot/twilio',
        'store the auth token first: botcli cloud phone connect twilio',
        `https://bots.example.com/v1/public/webhooks/acme/parrot/exotel/${secret}`,
      ],
      stderr: 'botcli cloud phone parrot --watch',
      requests: [{ operation: 'listAnswerUrls', params: { agentName: 'parrot' } }],
    },
  ],
  ['parrot --carrier exotel', { hides: 'twilio', stderr: 'botcli cloud phone parrot --carrier exotel --watch' }],
  ['parrot --json', { wholeJson: { answerUrls } }],
  ['show connect', { requests: [{ params: { agentName: 'connect' } }] }],
  ['parrot --rotate', { status: 2, stderr: '--yes', requests: [] }],
  ['parrot --rotate --yes', { stdout: secret, requests: [{ operation: 'rotateAnswerUrls' }] }],
  ['owl --rotate --yes', { status: 1, stderr: 'Agent "owl" does not exist' }],
  ['owl', { status: 1, stderr: 'Agent "owl" does not exist' }],
  ['parrot --carrier bell', { status: 2, requests: [] }],
  [
    'connect twilio',
    { stdout: 'Connected\tTwilio', requests: [{ body: { credential: 'token' } }] },
    { stdin: 'token\n' },
  ],
  ['connect twilio', { status: 2, stderr: 'standard input is empty', requests: [] }, { stdin: '\n' }],
  ['connect twilio token', { status: 2, requests: [] }],
  ['connect exotel', { status: 1, stderr: 'must be one of twilio, telnyx, plivo', requests: [] }, { stdin: 'x' }],
  ['disconnect twilio', { status: 2, stderr: '--yes', requests: [] }],
  ['disconnect twilio --yes --json', { wholeJson: { carrier: 'twilio', connectedAt } }],
  ['disconnect plivo --yes', { status: 1, stderr: 'No credential of this phone carrier is stored.' }],
]);

test('list shows every carrier, and which credential it needs', async () => {
  const { stdout } = await phone.run('list', { wholeStderr: '' });
  const rows = stdout.split('\n').map((row) => row.split('\t').slice(0, 3));
  expect(rows).toContainEqual(['twilio', 'Ready', 'auth token']);
  expect(rows).toContainEqual(['telnyx', 'Not connected', 'public key']);
  expect(rows).toContainEqual(['exotel', 'Ready', 'none, it does not sign']);
});

test('connect asks at a hidden prompt on a terminal, and prints no credential', async () => {
  await phone.run(
    'connect telnyx',
    { stderr: 'public key of Telnyx', hides: 'typed', requests: [{ body: { credential: 'typed' } }] },
    { terminal: true, answers: ['typed'] },
  );
});

test('show --watch ignores earlier calls, and ends when a call has reached the bot', async () => {
  const connected: PhoneCall = { ...answered, result: 'connected' };
  lists = [[refusedEarlier], [refusedEarlier], [answered, refusedEarlier], [answered], [connected]];
  await phone.run('parrot --watch', {
    stdout: [`Session\t${sessionId}`],
    stderr: ['Answer URL', 'Waiting for a call', 'A call from Twilio was answered'],
  });
  lists = [[], [connected]];
  await phone.run('parrot --watch --json', { wholeJson: { answerUrls, call: connected } });
});

test('show --watch fails with what was wrong with the call', async () => {
  const refused = { ...refusedEarlier, id: answered.id, message: 'The signature is wrong.' };
  lists = [[refusedEarlier], [refused, refusedEarlier]];
  await phone.run('parrot --watch', { status: 1, stderr: 'was refused. The signature is wrong.' });
  lists = [[], [{ ...answered, result: 'failed', reason: 'BOT_CONNECTION_TIMEOUT' }]];
  await phone.run('parrot --watch', { status: 1, stderr: ['did not reach the bot', `Its session is ${sessionId}`] });
});
