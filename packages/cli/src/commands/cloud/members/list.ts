import { defineCommand } from '../../../command-line/command.ts';
import { formatTime } from '../../../output/format.ts';

export const command = defineCommand({
  summary: 'List the members of the organization',
  details: 'Columns: e-mail, name, role, joined, id. Needs the login of a person who is a member.',
  arguments: {},
  options: {},
  examples: ['cloud members list', 'cloud members list --organization acme --json'],
  run: async ({ memberService }) => {
    const client = await memberService();
    const { members } = await client.listMembers();
    return {
      json: { members },
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'E-mail' },
            { title: 'Name' },
            { title: 'Role' },
            { title: 'Joined', dropOrder: 2 },
            { title: 'Id', dropOrder: 1 },
          ],
          rows: members.map(({ email, name, role, joinedAt, userId }) => [
            email,
            name,
            role,
            formatTime(joinedAt),
            userId,
          ]),
          empty: 'No members found.',
        },
      ],
    };
  },
});
