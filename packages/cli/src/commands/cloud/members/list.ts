import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';
import { createTable } from '../../../output/table.ts';

export const command = defineCommand({
  summary: 'List the members of the organization',
  details: 'Columns: e-mail, name, role, joined, id. Needs the login of a person who is a member.',
  examples: ['cloud members list', 'cloud members list --organization acme --json'],
  run: async ({ memberService }) => {
    const client = await memberService();
    const { members } = await client.listMembers();
    const table = createTable(members, 'No members found.', [
      ['E-mail', ({ email }) => email],
      ['Name', ({ name }) => name],
      ['Role', ({ role }) => role],
      ['Joined', ({ joinedAt }) => formatTime(joinedAt), { dropOrder: 2 }],
      ['Id', ({ userId }) => userId, { dropOrder: 1 }],
    ]);
    return { json: { members }, blocks: [table] };
  },
});
