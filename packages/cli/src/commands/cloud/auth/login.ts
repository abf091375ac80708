import { defineCommand } from '../../../command-line/command.ts';
import { flagOption, switchOption } from '../../../command-line/options.ts';
import { readPipedCredential } from '../../../connection/read-credential.ts';
import { UsageError } from '../../../failure.ts';
import { canPrompt } from '../../../io/confirm.ts';

export const command = defineCommand({
  summary: 'Log in with your browser, or with a key',
  details:
    'Shows a code and opens the page of the service where you approve it. The page may also be open on another machine. ' +
    'Without a terminal, --no-browser prints the URL and the code to standard error and waits. ' +
    'With BOTCLI_TOKEN or --with-token, logs in with that private key or personal access token instead. The key is verified, ' +
    'then stored in the profile.',
  options: {
    'with-token': flagOption('Read a key from standard input'),
    browser: switchOption('Whether to open a browser (the default)'),
  },
  examples: [
    'cloud auth login',
    'cloud auth login --no-browser',
    'cloud auth login --with-token < key.txt',
    'cloud auth login --api-url URL',
  ],
  run: async (context, { 'with-token': withToken, browser }) => {
    const { io, settings } = context;
    const { logIn } = await import('../../../connection/log-in.ts');
    const credential = withToken ? await readPipedCredential(io) : null;
    if (credential !== null) return logIn(context, credential);
    const { token } = io.environment;
    if (token !== null) return logIn(context, { value: token, source: 'BOTCLI_TOKEN' });
    // Without a terminal, there may be no reader for the code, so the wait for the approval must be requested.
    if (browser !== false && !canPrompt(io)) {
      throw new UsageError(
        'No key was given, and there is no terminal.',
        'Pass --no-browser to print a URL and a code and wait for the approval, set BOTCLI_TOKEN, or pass the key on ' +
          'standard input: botcli cloud auth login --with-token < FILE',
      );
    }
    const { logInWithBrowser } = await import('../../../connection/device-login.ts');
    const value = await logInWithBrowser(context, settings.origin.value, browser !== false);
    return logIn(context, { value, source: 'the browser login' });
  },
});
