import { command as define } from '../../command-line/command.ts';
import { choice, flag, integer, text } from '../../command-line/options.ts';

export const command = define({
  summary: 'Deploy a project: pack, upload, prepare and start it, and send new sessions to it',
  details:
    'Reads deploy.toml (else pcc-deploy.toml) here, or in the folder server. Options win over it; what it leaves ' +
    'out gets the default. Shows what is packed and what changes, then asks. An interrupted upload resumes where ' +
    'it stopped, also in another run; content that was prepared before is neither sent nor prepared again. New ' +
    'sessions run on the new version once its first instance is ready. If it does not become ready, it never gets ' +
    'a session, and the previous version keeps serving. Never packed: .env files, version control and the deploy ' +
    'file. Also left out: what .dockerignore says, or, without one, each .gitignore and a list of what is ' +
    'generated or secret (node_modules, dist, .venv, keys ...); and patterns below [build.exclude]. Waits until ' +
    'the new version serves, unless --no-wait is given.',
  arguments: { name: { description: 'Name of the agent; wins over agent_name of the file', optional: true } },
  options: {
    'config-file': text({ description: 'Another deploy file', placeholder: 'FILE' }),
    'build-dir': text({ description: 'Pack this folder', short: 'd', placeholder: 'FOLDER' }),
    'build-id': text({ description: 'Deploy this build, and pack nothing', short: 'b', placeholder: 'ID' }),
    region: text({ description: 'Region of a new agent', short: 'r', placeholder: 'REGION' }),
    profile: choice({ description: 'CPU and memory of an instance', short: 'p' }, ['agent-1x', 'agent-2x', 'agent-3x']),
    'min-agents': integer({ description: 'Instances kept ready' }, 0, 50),
    'max-agents': integer({ description: 'Sessions at once' }, 1, 50),
    'max-session-duration': integer({ description: 'Longest session in seconds' }, 60, 14_400),
    'websocket-auth': choice({ description: 'Whether WebSocket clients need a token' }, ['token', 'none']),
    secrets: text({ description: 'Secret set', short: 's', placeholder: 'NAME' }),
    yes: flag('Do not ask', 'y'),
    force: flag('Deploy even if nothing changed; does not ask', 'f'),
    'dry-run': flag('Show what would be packed and what would change, then exit'),
    wait: flag('Wait until it serves (the default)'),
    'no-wait': flag('Exit as soon as the service has accepted it'),
  },
  examples: [
    'cloud deploy',
    'cloud deploy --yes --json',
    'cloud deploy my-bot --min-agents 1',
    'cloud deploy --dry-run',
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
        secretSet: values.secrets,
      },
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
