import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createFields } from '../../../output/fields.ts';
import { findOrganizationMember, memberArgument } from '../../../records/find-organization-member.ts';

export const command = defineCommand({
  summary: 'Remove a member from the organization',
  details:
    'The person loses access at once, also with personal access tokens. API keys that the person created stay valid. ' +
    'Needs the login of an owner.',
  arguments: { member: memberArgument },
  options: confirmationOptions,
  examples: ['cloud members remove ada@example.com --yes'],
  run: async ({ memberService, io, settings }, { member: emailOrId, yes, force }) => {
    const client = await memberService();
    const { userId, email, role } = await findOrganizationMember(client, emailOrId);
    if (!yes && !force) {
      const question = `Remove ${email} (${role}) from the organization ${settings.organization?.value}?`;
      await requireConfirmation(io, question, '--yes');
    }
    const removed = await client.removeMember({ params: { userId } });
    const fields = createFields([
      ['Removed', removed.email],
      ['Name', removed.name],
      ['Id', removed.userId],
    ]);
    return { json: removed, blocks: [fields] };
  },
});
