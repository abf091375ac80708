import { createApiError } from '@bothost/contract';
import { operatorToken, organization } from '../../fake-service/records.ts';
import { startServiceWith, useCommands } from '../use-commands.ts';

const times = { createdAt: '2026-11-20T16:00:00.000Z', expiresAt: '2026-11-27T16:00:00.000Z' };
const invite = useCommands(
  'operator invite',
  () =>
    startServiceWith({
      createOperatorInvitation: () => ({
        ...times,
        id: organization.id,
        email: null,
        role: 'owner',
        organization: 'home',
        url: 'http://service/join#token',
      }),
      createPasswordReset: ({ body }) => {
        const { email } = body as { email: string };
        if (email !== 'ada@example.com') throw createApiError('user-not-found');
        return { email, expiresAt: times.expiresAt, url: 'http://service/reset-password#token' };
      },
    }),
  { BOTCLI_OPERATOR_TOKEN: operatorToken },
);

invite.table([
  ['', { stdout: 'Link\thttp://service/join#token\n', requests: [{ body: { role: 'owner' } }] }],
  [
    'ada@example.com --role viewer --organization acme',
    { requests: [{ body: { email: 'ada@example.com', role: 'viewer', organization: 'acme' } }] },
  ],
  ['--reset ada@example.com --json', { json: { url: 'http://service/reset-password#token' } }],
  ['--reset bob@example.com', { status: 1, stderr: 'No account has the e-mail address "bob@example.com".' }],
  ['ada@example.com --reset ada@example.com', { status: 2 }],
]);
