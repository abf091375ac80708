import { roles } from '@bothost/contract/roles';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, requiredOption } from '../../../command-line/options.ts';
import { createOneTimeLinkReport } from '../../../records/one-time-link.ts';

export const command = defineCommand({
  summary: 'Create a one-time link with which a person joins the organization',
  details:
    'The person who opens the link signs in or creates an account, and becomes a member. With an e-mail address, only an ' +
    'account with that address can use it. The service sends no mail: send the link over a private channel. Needs the login ' +
    'of an owner.',
  arguments: { email: { description: 'E-mail address of the invited person', optional: true } },
  options: { role: requiredOption(choiceOption({ description: 'Role in the organization' }, roles)) },
  examples: ['cloud members invite ada@example.com --role member', 'cloud members invite --role viewer --json'],
  run: async ({ memberService }, { email, role }) => {
    const client = await memberService();
    const invitation = await client.createInvitation({ body: { role, email } });
    return createOneTimeLinkReport(invitation, [
      ['Role', invitation.role],
      ...(invitation.email === null ? [] : [['E-mail', invitation.email] as const]),
      ['Id', invitation.id],
    ]);
  },
});
