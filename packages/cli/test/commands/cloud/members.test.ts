import { createApiError, type Member } from '@bothost/contract';
import { test } from 'vitest';
import { startFakeService } from '../../fake-service/fake-service.ts';
import { member, personalToken, privateKey, publicKey } from '../../fake-service/records.ts';
import { type CommandRow, useCommands } from '../use-commands.ts';

const viewer: Member = {
  ...member,
  userId: member.userId.replace('d', 'e'),
  email: 'bob@example.com',
  name: 'B\tob',
  role: 'viewer',
};
const invitation = {
  id: '01930000-0000-7000-8000-00000000000f',
  role: 'member' as const,
  createdAt: '2026-11-20T16:00:00.000Z',
  expiresAt: '2026-11-27T16:00:00.000Z',
  url: 'http://service/join#token',
};
const requireOther = (userId: string | undefined) => {
  if (userId === member.userId) throw createApiError('last-owner');
};
const members = useCommands(
  'cloud members',
  () =>
    startFakeService(
      { privateKey: personalToken, publicKey },
      {
        listMembers: () => ({ members: [member, viewer] }),
        createInvitation: ({ body }) => ({ ...invitation, email: null, ...(body as object) }),
        updateMember: ({ params, body }) => {
          requireOther(params['userId']);
          return { ...viewer, ...(body as Pick<Member, 'role'>) };
        },
        removeMember: ({ params }) => {
          requireOther(params['userId']);
          return viewer;
        },
      },
    ),
  { BOTCLI_TOKEN: personalToken, BOTCLI_ORG: 'acme' },
);

test('list shows one row per member of the selected organization', async () => {
  await members.run('list', {
    wholeStdout:
      'E-mail\tName\tRole\tJoined\tId\n' +
      `ada@example.com\tAda\towner\t${member.joinedAt}\t${member.userId}\n` +
      `bob@example.com\tB\\tob\tviewer\t${viewer.joinedAt}\t${viewer.userId}\n`,
    wholeStderr: '',
    requests: [{ path: '/v1/organizations/acme/members', key: personalToken }],
  });
  await members.run('list --json', { wholeJson: { members: [member, viewer] } });
});

const withApiKey = { variables: { BOTCLI_TOKEN: privateKey } };
const apiKeyRefused = {
  status: 1,
  wholeStdout: '',
  stderr: [
    'The key from BOTCLI_TOKEN is an API key; this command needs a personal access token.',
    'botcli cloud auth login',
  ],
  requests: [],
};
const notMember = {
  status: 1,
  stderr: ['"eve@example.com" is not a member of the organization.', 'botcli cloud members list'],
  requests: ['listMembers'],
} as const;
const changeRole = (word: string): CommandRow[] => [
  [
    `set-role ${word} --role member`,
    {
      stdout: 'Role\tmember\n',
      lastRequest: {
        operation: 'updateMember',
        params: { organization: 'acme', userId: viewer.userId },
        body: { role: 'member' },
      },
    },
  ],
  [`set-role ${word} --role member --json`, { wholeJson: { ...viewer, role: 'member' } }],
];
const removeBob = 'remove bob@example.com';

members.table([
  ['list', { stdout: ['ada@example.com', 'owner'], hides: member.userId }, { terminal: true, columns: 50 }],
  ['list', apiKeyRefused, withApiKey],
  ['invite --role member', apiKeyRefused, withApiKey],
  ['set-role bob@example.com --role member', apiKeyRefused, withApiKey],
  [`${removeBob} --yes`, apiKeyRefused, withApiKey],
  [
    'list --json',
    {
      status: 1,
      stdout: 'botcli cloud organizations select NAME',
      json: { error: { reason: 'organization-missing' } },
      requests: [],
    },
    { variables: { BOTCLI_ORG: '' } },
  ],
  [
    'invite ada@example.com --role viewer',
    {
      wholeStdout:
        `Link\t${invitation.url}\nRole\tviewer\nE-mail\tada@example.com\nId\t${invitation.id}\n` +
        `Expires\t${invitation.expiresAt}\n`,
      wholeStderr: 'The link works once. Send it over a private channel.\n',
      requests: [{ body: { email: 'ada@example.com', role: 'viewer' } }],
    },
  ],
  [
    'invite --role member --json',
    { wholeJson: { ...invitation, email: null }, requests: [{ body: { role: 'member' } }] },
  ],
  ...['invite ada@example.com', 'set-role ada@example.com'].flatMap((line): CommandRow[] => [
    [line, { status: 2, stderr: '--role is missing', requests: [] }],
    [`${line} --role admin`, { status: 2, stderr: '--role must be one of owner, member, viewer', requests: [] }],
  ]),
  ...changeRole('Bob@Example.com'),
  ...changeRole(viewer.userId.toUpperCase()),
  ['set-role ada@example.com --role viewer', { status: 1, stderr: 'this is the only one' }],
  ['remove ada@example.com --yes', { status: 1, stderr: 'this is the only one' }],
  ['set-role eve@example.com --role viewer', notMember],
  ['remove eve@example.com --yes', notMember],
  [
    removeBob,
    {
      stderr: '? Remove bob@example.com (viewer) from the organization acme?',
      lastRequest: { operation: 'removeMember', params: { organization: 'acme', userId: viewer.userId } },
    },
    { terminal: true, answers: [true] },
  ],
  [removeBob, { status: 2, stderr: '--yes' }],
  [removeBob, { status: 1, requests: ['listMembers'] }, { terminal: true, answers: [false] }],
  [`${removeBob} --yes --json`, { wholeJson: viewer }],
]);
