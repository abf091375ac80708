import { formatInstallCommands } from '@bothost/contract';
import { formatBotcliCommand, formatCloudCommand } from './shell-command.ts';

/** A step from an empty directory to a deployed bot. */
export type FirstDeployStep = {
  readonly title: string;
  readonly command: string;
  /** What the person must do before the next step works. */
  readonly task?: string;
  readonly hint?: string;
};

/** The project that `botcli init quickstart` creates. */
const project = 'botcli-quickstart';

/**
 * Returns the steps from an empty directory to a deployed bot. The commands are run as they are, in one shell; only a `task`
 * needs a person.
 */
export function listFirstDeploySteps(origin: string, organization: string): readonly FirstDeployStep[] {
  const { asRoot, asUser } = formatInstallCommands(origin);
  return [
    { title: 'Install botcli', command: asRoot, hint: `Without root: ${asUser}` },
    {
      title: 'Log in',
      command: formatBotcliCommand('cloud', 'auth', 'login', '--api-url', origin),
      task: 'Open the printed page and approve the login.',
    },
    { title: 'Create a bot', command: formatBotcliCommand('init', 'quickstart') },
    {
      title: 'Enter its keys',
      command: `cd ${project} && cp server/.env.example server/.env`,
      task: 'Open server/.env in an editor and fill in the keys. The next step stores them.',
    },
    {
      title: 'Store the keys',
      command: formatCloudCommand(
        organization,
        ...['secrets', 'set', `${project}-secrets`, '--file', 'server/.env', '--skip'],
      ),
    },
    { title: 'Deploy', command: formatCloudCommand(organization, 'deploy', '--yes') },
  ];
}
