import { createApiError, type Member } from '@bothost/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeService, startFakeService } from '../../fake-service/fake-service.ts';
import { member, personalToken, privateKey, publicKey } from '../../fake-service/records.ts';
import { type RunOptions, runProgram } from '../../run-program.ts';

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
let service: FakeService;

beforeEach(async () => {
  service = await startFakeService(
    { privateKey: personalToken, publicKey },
    {
      listMembers: () => ({ members: [member, viewer] }),
      createInvitation: ({ body }) => ({ ...invitation, email: null, ...(body as object) }),
      updateMember: ({ params, body }) => {
        if (params['userId'] === member.userId) throw createApiError('last-owner');
        return { ...viewer, ...(body as Pick<Member, 'role'>) };
      },
      removeMember: ({ params }) => {
        if (params['userId'] === member.userId) throw createApiError('last-owner');
        return viewer;
      },
    },
  );
});
afterEach(() => service.close());

const members = (line: string, { variables, ...given }: RunOptions = {}) =>
  runProgram(['cloud', 'members', ...line.split(' ')], {
    ...given,
    variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: personalToken, BOTCLI_ORG: 'acme', ...variables },
  });

test('list shows one row per member of the selected organization', async () => {
  const { status, stdout, stderr } = await members('list');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(
    'E-mail\tName\tRole\tJoined\tId\n' +
      `ada@example.com\tAda\towner\t${member.joinedAt}\t${member.userId}\n` +
      `bob@example.com\tB\\tob\tviewer\t${viewer.joinedAt}\t${viewer.userId}\n`,
  );
  expect(service.requests).toMatchObject([{ path: '/v1/organizations/acme/members', key: personalToken }]);
  expect(JSON.parse((await members('list --json')).stdout)).toEqual({ members: [member, viewer] });
});

test('list on a narrow terminal shows the e-mail, name and role, but not the user ID', async () => {
  const { stdout } = await members('list', { terminal: true, columns: 50 });
  expect(stdout).toContain('ada@example.com');
  expect(stdout).toContain('owner');
  expect(stdout).not.toContain(member.userId);
});

test.each(['list', 'invite --role member', 'set-role bob@example.com --role member', 'remove bob@example.com --yes'])(
  'the command %s rejects an API key without sending a request, and names the login command',
  async (line) => {
    const outcome = await members(line, { variables: { BOTCLI_TOKEN: privateKey } });
    expect(outcome).toMatchObject({ status: 1, stdout: '' });
    expect(outcome.stderr).toContain(
      'The key from BOTCLI_TOKEN is an API key; this command needs a personal access token.',
    );
    expect(outcome.stderr).toContain('botcli cloud auth login');
    expect(service.requests).toEqual([]);
  },
);

test('the error of list without an organization contains the command that selects an organization', async () => {
  const outcome = await members('list --json', { variables: { BOTCLI_ORG: '' } });
  expect(outcome.status).toBe(1);
  expect(JSON.parse(outcome.stdout)).toMatchObject({
    error: { reason: 'organization-missing', hint: expect.stringContaining('botcli cloud organizations select NAME') },
  });
  expect(service.requests).toEqual([]);
});

test('invite sends the address and the role, and prints the link', async () => {
  const outcome = await members('invite ada@example.com --role viewer');
  expect(service.requests.at(-1)?.body).toEqual({ email: 'ada@example.com', role: 'viewer' });
  expect(outcome).toEqual({
    status: 0,
    stdout:
      `Link\t${invitation.url}\nRole\tviewer\nE-mail\tada@example.com\nId\t${invitation.id}\n` +
      `Expires\t${invitation.expiresAt}\n`,
    stderr: 'The link works once. Send it over a private channel.\n',
  });
});

test('invite without an address creates a link for anyone', async () => {
  const { stdout } = await members('invite --role member --json');
  expect(service.requests.at(-1)?.body).toEqual({ role: 'member' });
  expect(JSON.parse(stdout)).toEqual({ ...invitation, email: null });
});

test.each(['invite ada@example.com', 'set-role ada@example.com'])('the command %s requires --role', async (line) => {
  expect(await members(line)).toMatchObject({ status: 2, stderr: expect.stringContaining('--role is missing') });
  expect(await members(`${line} --role admin`)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--role must be one of owner, member, viewer'),
  });
  expect(service.requests).toEqual([]);
});

test.each(['Bob@Example.com', viewer.userId.toUpperCase()])(
  'set-role finds a member by e-mail or ID in any letter case: %s',
  async (word) => {
    const { status, stdout } = await members(`set-role ${word} --role member`);
    expect(status).toBe(0);
    expect(stdout).toContain('Role\tmember\n');
    expect(service.requests.at(-1)).toMatchObject({
      operation: 'updateMember',
      params: { userId: viewer.userId },
      body: { role: 'member' },
    });
    const changed = await members(`set-role ${word} --role member --json`);
    expect(JSON.parse(changed.stdout)).toEqual({ ...viewer, role: 'member' });
  },
);

test.each(['set-role ada@example.com --role viewer', 'remove ada@example.com --yes'])(
  'the command %s fails for the last owner of the organization',
  async (line) => {
    expect(await members(line)).toMatchObject({ status: 1, stderr: expect.stringContaining('this is the only one') });
  },
);

test.each(['set-role eve@example.com --role viewer', 'remove eve@example.com --yes'])(
  'the command %s fails for a person who is not a member, and changes nothing',
  async (line) => {
    const outcome = await members(line);
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toContain('"eve@example.com" is not a member of the organization.');
    expect(outcome.stderr).toContain('botcli cloud members list');
    expect(service.requests.map(({ operation }) => operation)).toEqual(['listMembers']);
  },
);

test('remove shows the address, the role and the organization before it asks for confirmation', async () => {
  const outcome = await members('remove bob@example.com', { terminal: true, answers: [true] });
  expect(outcome.stderr).toContain('? Remove bob@example.com (viewer) from the organization acme?');
  expect(outcome.status).toBe(0);
  expect(service.requests.at(-1)).toMatchObject({ operation: 'removeMember', params: { userId: viewer.userId } });
});

test('remove requires --yes without a terminal, and changes nothing if the user answers no', async () => {
  const line = 'remove bob@example.com';
  expect(await members(line)).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  expect(await members(line, { terminal: true, answers: [false] })).toMatchObject({ status: 1 });
  expect(service.requests.filter(({ operation }) => operation === 'removeMember')).toEqual([]);
  const { status, stdout } = await members(`${line} --yes --json`);
  expect({ status, document: JSON.parse(stdout) }).toEqual({ status: 0, document: viewer });
});
