import { quoteShellWord } from './shell-word.ts';

/** Path at which the service serves its own `botcli` as an npm package. */
export const commandLinePackagePath = '/botcli.tgz';

/** Response header with the version of the service. `botcli` compares it with its own version. */
export const serviceVersionHeader = 'bothost-version';

/** Returns the commands that install the service's `botcli`: as root, and in the home directory of another account. */
export function formatInstallCommands(origin: string): { readonly asRoot: string; readonly asUser: string } {
  // A shell would expand the brackets of an IPv6 address.
  const word = quoteShellWord(origin + commandLinePackagePath);
  return { asRoot: `npm install -g ${word}`, asUser: `npm install --prefix ~/.local -g ${word}` };
}
