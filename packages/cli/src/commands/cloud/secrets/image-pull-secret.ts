import { defineCommand } from '../../../command-line/command.ts';
import { durationOption, flagOption, switchOption, textOption } from '../../../command-line/options.ts';
import { dryRunOption, regionOption, waitOption } from '../../../secrets/options.ts';

const maxLifetimeSeconds = 10 * 366 * 86_400;

export const command = defineCommand({
  summary: 'Create or replace credentials for a private image registry',
  details:
    'The credentials are username:password. Without an argument, botcli prompts for them. They are stored in ' +
    'the encoded form that docker uses; --no-encode takes credentials that are already encoded. They are never ' +
    'shown.\n' +
    'The registry can have any form (docker.io, ghcr.io, registry.example.com:5000, a URL) and is stored under ' +
    'one canonical name.\n' +
    'With --verify, the service asks the registry whether it accepts the credentials; exit status 1 if not.\n' +
    'The command asks for no confirmation.',
  arguments: {
    name: { description: 'Name of the image pull secret' },
    host: { description: 'Registry: a host, host:port or URL' },
    credentials: {
      description: "username:password; visible to other processes and in the shell's history",
      optional: true,
    },
  },
  options: {
    encode: switchOption('Whether to encode the credentials in Base64 (the default)'),
    username: textOption({
      description: 'User name; the password is prompted for or read from standard input',
      placeholder: 'USER',
    }),
    'password-stdin': flagOption('Read the password from standard input'),
    'from-docker-config': textOption({
      description: 'Read the credentials from a file of docker or podman, such as ~/.docker/config.json',
      placeholder: 'FILE',
    }),
    verify: flagOption('Verify the credentials with the registry'),
    image: textOption({
      description: 'Also verify that the credentials can pull this image; implies --verify',
      placeholder: 'IMAGE',
    }),
    expires: durationOption({ description: 'Validity of the credentials, such as 12h' }, maxLifetimeSeconds),
    region: regionOption,
    skip: flagOption('Accepted for older scripts; the command asks for no confirmation', 's'),
    'dry-run': dryRunOption,
    wait: waitOption,
  },
  examples: [
    'cloud secrets image-pull-secret ghcr ghcr.io',
    'cloud secrets image-pull-secret hub docker.io --username me --password-stdin < token.txt',
    'cloud secrets image-pull-secret hub docker.io --from-docker-config ~/.docker/config.json --verify --image me/bot:1',
  ],
  run: async (context, { name, host, credentials, ...values }) => {
    const { putImagePullSecret } = await import('../../../secrets/image-pull-secret.ts');
    return putImagePullSecret(context, {
      name,
      host,
      credentials: {
        text: credentials,
        isEncoded: values.encode === false,
        username: values.username,
        passwordStdin: values['password-stdin'],
        dockerConfig: values['from-docker-config'],
      },
      shouldVerify: values.verify || values.image !== undefined,
      image: values.image,
      lifetimeSeconds: values.expires,
      region: values.region,
      isDryRun: values['dry-run'],
      waitSeconds: values.wait,
    });
  },
});
