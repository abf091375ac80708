import { roles } from '@bothost/contract/roles';
import { defineCommand } from '../../command-line/command.ts';
import type { CommandContext } from '../../command-line/context.ts';
import { choiceOption, textOption } from '../../command-line/options.ts';
import { UsageError } from '../../failure.ts';
import { operatorOptions, withOperatorClient } from '../../operator/as-operator.ts';
import { createOneTimeLinkReport } from '../../records/one-time-link.ts';

export const command = defineCommand({
  summary: 'Create a one-time link for a new account or a new password',
  details:
    'The person who opens the link creates an account and becomes a member of the organization of --organization or BOTCLI_ORG, ' +
    'by default the oldest organization. With an e-mail address, only an account with that address can use it. With --reset, ' +
    'the person with that address can set a new password. Send the link over a private channel. Needs the operator token, ' +
    'and the service must be running.',
  arguments: { email: { description: 'E-mail address of the invited person', optional: true } },
  options: {
    role: choiceOption({ description: 'Role in the organization, by default owner' }, roles),
    reset: textOption({
      description: 'Create a link with which the person with this address sets a new password',
      placeholder: 'EMAIL',
    }),
    ...operatorOptions,
  },
  examples: [
    'operator invite',
    'operator invite ada@example.com --role member --organization home',
    'operator invite --reset ada@example.com',
  ],
  run: async (context, { email, role = 'owner', reset, 'token-file': file }) => {
    if (reset !== undefined) {
      if (email !== undefined)
        throw new UsageError('--reset takes the e-mail address as its value. Leave out the argument EMAIL.');
      const link = await withOperatorClient(context, file, (client) =>
        client.createPasswordReset({ body: { email: reset } }),
      );
      return createOneTimeLinkReport(link, [['E-mail', link.email]]);
    }
    const { organization } = context.settings;
    const body = { role, email, organization: isRequested(context) ? organization?.value : undefined };
    const link = await withOperatorClient(context, file, (client) => client.createOperatorInvitation({ body }));
    return createOneTimeLinkReport(link, [
      ['Organization', link.organization],
      ['Role', link.role],
      ...(link.email === null ? [] : [['E-mail', link.email] as const]),
    ]);
  },
});

/**
 * Returns whether the organization comes from an option or the environment. The organization in the profile does not count,
 * because it may belong to another service.
 */
function isRequested({ settings, io }: CommandContext): boolean {
  return settings.organization !== null && settings.organization.source !== io.environment.profileFile;
}
