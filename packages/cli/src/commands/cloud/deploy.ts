import { conversationLevels } from '@bothost/contract/conversation-level';
import { agentProfileNames, instanceCountLimits, sessionDurationLimitsSeconds } from '@bothost/contract/limits';
import { defineCommand } from '../../command-line/command.ts';
import { choiceOption, flagOption, integerOption, textOption } from '../../command-line/options.ts';

export const command = defineCommand({
  summary: 'Deploy a project or an image',
  details:
    'Packs the project, uploads it, builds it and starts a first instance. New sessions use the new version as ' +
    'soon as that instance is ready; if it never is, the previous version keeps serving.\n' +
    'The settings come from deploy.toml (or pcc-deploy.toml) in this directory or in its directory server. Options ' +
    'override it. The command shows what is packed and what changes, and asks for confirmation.\n' +
    'If the secret set does not exist, the command offers to create it from the file .env beside the deploy file. ' +
    'Without a terminal, and with --yes, --force or --dry-run, it fails and names the command that creates the set.\n' +
    'Some regions run container images instead of projects (botcli cloud regions list). There, name the image, or set ' +
    'image in deploy.toml. The service pulls the image, with the credentials of --credentials if the registry needs some. ' +
    'All instances run the digest that was pulled; a tag that was pushed again counts as a change of the next deploy.\n' +
    'An interrupted upload is resumed by the next run. Content that was built before is not uploaded or built ' +
    'again.\n' +
    'Never packed: .env files, version control, the deploy file. Also excluded: files that match .dockerignore ' +
    'or, without one, .gitignore and a list of generated and secret files (such as node_modules, dist, .venv ' +
    'and keys); and the patterns in [build.exclude].',
  arguments: {
    name: { description: 'Name of the agent; overrides agent_name in the deploy file', optional: true },
    image: { description: 'Container image to deploy, such as ghcr.io/team/my-bot:1.4', optional: true },
  },
  options: {
    credentials: textOption({
      description: 'Image pull secret for the registry of the image; overrides image_credentials',
      short: 'c',
      placeholder: 'NAME',
    }),
    'config-file': textOption({ description: 'Deploy file to use', placeholder: 'FILE' }),
    'build-dir': textOption({ description: 'Directory to pack', short: 'd', placeholder: 'DIRECTORY' }),
    'build-id': textOption({ description: 'Existing build to deploy', short: 'b', placeholder: 'ID' }),
    region: textOption({ description: 'Region of a new agent', short: 'r', placeholder: 'REGION' }),
    profile: choiceOption({ description: 'CPU and memory of an instance', short: 'p' }, agentProfileNames),
    'min-agents': integerOption(
      { description: 'Number of instances that are kept ready' },
      instanceCountLimits.minimum,
      instanceCountLimits.maximum,
    ),
    'max-agents': integerOption(
      { description: 'Maximum number of concurrent sessions' },
      1,
      instanceCountLimits.maximum,
    ),
    'max-session-duration': integerOption(
      { description: 'Maximum duration of a session in seconds' },
      sessionDurationLimitsSeconds.minimum,
      sessionDurationLimitsSeconds.maximum,
    ),
    'websocket-auth': choiceOption({ description: 'Whether WebSocket clients need a token' }, ['token', 'none']),
    'conversation-level': choiceOption(
      { description: 'What is kept of new sessions: nothing, times and numbers, or also the text' },
      conversationLevels,
    ),
    secrets: textOption({ description: 'Secret set', short: 's', placeholder: 'NAME' }),
    yes: flagOption('Skip the confirmation', 'y'),
    force: flagOption('Deploy even if nothing changed; skips the confirmation', 'f'),
    'dry-run': flagOption('Show what would be packed and changed, then exit'),
    wait: flagOption('Wait until the new version is active (the default)'),
    'no-wait': flagOption('Do not wait until the new version is active'),
  },
  examples: [
    'cloud deploy',
    'cloud deploy --yes --json',
    'cloud deploy my-bot --min-agents 1',
    'cloud deploy --dry-run',
    'cloud deploy my-bot ghcr.io/team/my-bot:1.4 --credentials ghcr',
  ],
  run: async (context, values) => {
    const { deploy } = await import('../../deploy/deploy.ts');
    return deploy(context, {
      settings: {
        name: values.name,
        region: values.region,
        minAgents: values['min-agents'],
        maxAgents: values['max-agents'],
        agentProfile: values.profile,
        maxSessionDuration: values['max-session-duration'],
        websocketAuth: values['websocket-auth'],
        websocketStart: undefined,
        fork: undefined,
        conversationLevel: values['conversation-level'],
        secretSet: values.secrets,
        pullSecret: values.credentials,
      },
      image: values.image,
      configFile: values['config-file'],
      buildDir: values['build-dir'],
      buildId: values['build-id'],
      isConfirmed: values.yes || values.force,
      isForced: values.force,
      isDryRun: values['dry-run'],
      shouldWait: !values['no-wait'],
    });
  },
});
