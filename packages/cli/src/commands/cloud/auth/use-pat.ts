import { defineCommand } from '../../../command-line/command.ts';
import { flagOption } from '../../../command-line/options.ts';
import { promptForCredential, readPipedCredential } from '../../../connection/read-credential.ts';

export const command = defineCommand({
  summary: 'Log in with a personal access token or a private key',
  details:
    'Create a personal access token in the dashboard, under Settings. The token is read from a hidden prompt or from standard ' +
    'input (--with-token), never from an argument, which other users of the machine could read. It is verified, then stored ' +
    'in the profile.',
  options: { 'with-token': flagOption('Read the token from standard input') },
  examples: ['cloud auth use-pat', 'cloud auth use-pat --with-token < token.txt'],
  run: async (context, { 'with-token': withToken }) => {
    const { logIn } = await import('../../../connection/log-in.ts');
    return logIn(context, withToken ? await readPipedCredential(context.io) : await promptForCredential(context.io));
  },
});
