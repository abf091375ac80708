import { command as define } from '../../../command-line/command.ts';
import { flag, onOff, span, text } from '../../../command-line/options.ts';
import { dryRun, region, wait } from '../../../secrets/options.ts';

const tenYears = 10 * 366 * 86_400;

export const command = define({
  summary: 'Create or update the credentials for a private registry of images',
  details:
    'The credentials are username:password; if they are not given, botcli asks for them without showing them. ' +
    'They are encoded and stored in the form that docker uses; --no-encode takes credentials that are already ' +
    'encoded. The registry may be given in any form (docker.io, ghcr.io, registry.example.com:5000, a URL) and is ' +
    'stored under one name. If the secret exists, its credentials are updated in place. --verify asks the ' +
    'registry, from where the service runs, whether it accepts them: status 1 if not. Shows what will change and ' +
    'asks, unless --skip is given; no character of the credentials is ever shown.',
  arguments: {
    name: { description: 'Name of the image pull secret' },
    host: { description: 'The registry: a host, host:port or URL' },
    credentials: {
      description: "username:password; visible to other processes and in the shell's history",
      optional: true,
    },
  },
  options: {
    encode: onOff('Whether to encode the credentials in Base64 (the default), or take them as encoded'),
    username: text({
      description: 'User name; the password is asked for, or read from standard input',
      placeholder: 'USER',
    }),
    'password-stdin': flag('Read the password from standard input'),
    'from-docker-config': text({
      description: 'Take the credentials of this registry from a docker or podman file, such as ~/.docker/config.json',
      placeholder: 'FILE',
    }),
    verify: flag('Ask the registry whether it accepts the credentials'),
    image: text({ description: 'Also ask whether they may pull this image; implies --verify', placeholder: 'IMAGE' }),
    expires: span({ description: 'How long the credentials are valid, like 12h' }, tenYears),
    region,
    skip: flag('Accepted for older scripts; the command asks for no confirmation', 's'),
    'dry-run': dryRun,
    wait,
  },
  examples: [
    'cloud secrets image-pull-secret ghcr ghcr.io',
    'cloud secrets image-pull-secret hub docker.io --username me --password-stdin < token.txt',
    'cloud secrets image-pull-secret hub docker.io --from-docker-config ~/.docker/config.json --verify --image me/bot:1',
  ],
  run: async (context, { name, host, credentials, ...values }) => {
    const { imagePullSecret } = await import('../../../secrets/image-pull-secret.ts');
    return imagePullSecret(context, {
      name,
      host,
      from: {
        text: credentials,
        isEncoded: values.encode === false,
        username: values.username,
        passwordStdin: values['password-stdin'],
        dockerConfig: values['from-docker-config'],
      },
      shouldVerify: values.verify || values.image !== undefined,
      image: values.image,
      lifeSeconds: values.expires,
      region: values.region,
      isDryRun: values['dry-run'],
      waitSeconds: values.wait,
    });
  },
});
