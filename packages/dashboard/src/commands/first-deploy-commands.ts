import { type DeploySource, formatInstallCommands } from '@bothost/contract';
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
/** In commands, stands for the name of an image. */
const image = `REGISTRY/${project}:1`;

/** The steps from an empty directory to a deployed bot. The commands run in one shell; only a `task` needs a person. */
export function listFirstDeploySteps(
  origin: string,
  organization: string,
  source: DeploySource,
): readonly FirstDeployStep[] {
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
    ...(source === 'image' ? listImageSteps(organization) : []),
    {
      title: 'Deploy',
      command: formatCloudCommand(
        organization,
        ...['deploy', ...(source === 'image' ? [project, image, '--credentials', 'registry'] : []), '--yes'],
      ),
    },
  ];
}

function listImageSteps(organization: string): readonly FirstDeployStep[] {
  return [
    {
      title: 'Build and push the image',
      command: `docker build -t ${image} server && docker push ${image}`,
      hint: 'In all steps, REGISTRY is where you may push images, such as ghcr.io/team. Log in there with docker login.',
    },
    {
      title: 'Store the credentials with which the service pulls the image',
      command: formatCloudCommand(organization, 'secrets', 'image-pull-secret', 'registry', 'https://REGISTRY'),
      task: 'Enter the user and the token of the registry.',
    },
  ];
}
