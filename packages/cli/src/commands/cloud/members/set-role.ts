import { roles } from '@bothost/contract/roles';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, requiredOption } from '../../../command-line/options.ts';
import { createFields } from '../../../output/fields.ts';
import { findOrganizationMember, memberArgument } from '../../../records/find-organization-member.ts';

export const command = defineCommand({
  summary: 'Change the role of a member',
  details: 'The new role applies at once. An organization always has an owner. Needs the login of an owner.',
  arguments: { member: memberArgument },
  options: { role: requiredOption(choiceOption({ description: 'New role in the organization' }, roles)) },
  examples: ['cloud members set-role ada@example.com --role viewer'],
  run: async ({ memberService }, { member: emailOrId, role }) => {
    const client = await memberService();
    const { userId } = await findOrganizationMember(client, emailOrId);
    const changed = await client.updateMember({ params: { userId }, body: { role } });
    const fields = createFields([
      ['E-mail', changed.email],
      ['Name', changed.name],
      ['Role', { text: changed.role, tone: 'strong' }],
      ['Id', changed.userId],
    ]);
    return { json: changed, blocks: [fields] };
  },
});
