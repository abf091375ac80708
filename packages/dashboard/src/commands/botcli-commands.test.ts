import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { roles } from '@bothost/contract';
import { expect, it } from 'vitest';
import { findUsageProblem } from '../../../cli/test/find-usage-problem.ts';
import { periodOptions } from '../components/period.ts';
import { botcliCommands } from './botcli-commands.ts';
import { listFirstDeploySteps } from './first-deploy-commands.ts';

type CommandName = keyof typeof botcliCommands;
const id = '01930000-0000-7000-8000-000000000001';
const origin = 'http://[::1]:7420';
const settings = {
  'min-agents': 0,
  'max-agents': 9,
  profile: 'agent-2x',
  'max-session-duration': 90,
  secrets: 'keys',
};

/** Arguments for which the test formats each command. The type requires a row for each. */
const samples: { readonly [Name in CommandName]: readonly Parameters<(typeof botcliCommands)[Name]>[] } = {
  inviteAsOperator: [[]],
  logIn: [[origin]],
  storeToken: [[origin]],
  showLogin: [[]],
  listAgents: [['home']],
  showAgent: [['home', 'parrot']],
  deleteAgent: [['home', 'parrot']],
  startSession: [
    ['home', 'parrot'],
    [null, 'parrot', 'livekit'],
  ],
  listSessions: [
    ['home', 'parrot', { status: 'active' }],
    ['home', 'parrot', { 'end-state': 'terminated' }],
  ],
  showSession: [
    ['home', 'parrot', id],
    [null, 'parrot', id],
  ],
  readConversation: [
    ['home', 'parrot', id, true],
    ['home', 'parrot', id, false],
  ],
  deleteConversation: [['home', 'parrot', id]],
  stopSession: [['home', 'parrot', id]],
  readLogs: [
    [null, 'parrot', { session: id }],
    ...periodOptions.map(([period]) => {
      const filter = { session: id, query: "it's tea time", level: 'WARNING', since: period || undefined };
      return ['home', 'parrot', filter, true] as [string, string, typeof filter, boolean];
    }),
  ],
  listDeployments: [['home', 'parrot']],
  rollBackAgent: [['home', 'parrot', id]],
  deploy: [[]],
  deployImage: [
    ['home', 'bot', 'ghcr.io/team/bot:1', ''],
    ['home', 'bot', 'ghcr.io/team/bot:1', 'ghcr'],
  ],
  deployFolder: [
    ['home', 'parrot', 'my bot', settings],
    ['home', 'parrot', 'my bot', {}],
  ],
  deployWithFile: [['home', 'my bot/deploy.toml']],
  deployBuildAgain: [['home', 'parrot', id]],
  cancelBuild: [['home', id]],
  readBuildLog: [['home', id]],
  listSecretSets: [['home']],
  showSecretSet: [['home', 'keys']],
  setSecret: [['home', 'NAME', 'KEY']],
  setSecretsFromFile: [['home', 'keys', '.env']],
  unsetSecret: [['home', 'keys', 'KEY']],
  showSecretHistory: [['home', 'keys']],
  rollBackSecrets: [['home', 'keys', 2]],
  deleteSecretSet: [
    ['home', 'keys', true],
    ['home', 'keys', false],
  ],
  setImagePullSecret: [['home', 'NAME', 'REGISTRY', 'USER']],
  verifyImagePullSecret: [['home', 'hub']],
  listKeys: [['home']],
  createKey: [
    ['home', "Ada's key", 'public', ''],
    [null, 'NAME', 'private', '90'],
  ],
  revokeKey: [['home', id]],
  listWebhooks: [['home']],
  createWebhook: [
    ['home', { url: '', events: ['session.ended'], description: '' }],
    ['home', { url: 'https://a.example/?b=c', events: ['session.ended', 'session.failed'], description: 'my pager' }],
  ],
  updateWebhook: [['home', id, { url: 'https://a.example/', events: ['session.failed'], description: '' }]],
  deleteWebhook: [['home', id]],
  listWebhookDeliveries: [['home', id]],
  listAlerts: [['home']],
  createAlert: [
    ['home', 'parrot', { kind: 'failed_sessions', threshold: 2, windowMinutes: 15 }],
    ['home', 'parrot', { kind: 'failed_deployment' }],
  ],
  deleteAlert: [['home', 'parrot', id]],
  listMembers: [['home']],
  inviteMember: roles.flatMap((role) => [
    ['home', 'ada@example.com', role] as [string, string, string],
    ['home', null, role] as [string, null, string],
  ]),
  removeMember: [['home', 'ada@example.com']],
  listAuditEntries: [
    ['home', { action: 'keys.create', object: 'my key', result: 'done', since: '7d' }],
    ['home', {}],
  ],
  listRegions: [['home']],
  listRooms: [['home']],
  connectRooms: [
    ['home', false],
    ['home', true],
  ],
  disconnectRooms: [['home']],
  listPhoneCarriers: [['home']],
  showPhone: [['home', 'parrot']],
  connectPhone: [['home', 'twilio']],
  disconnectPhone: [['home', 'twilio']],
};

const shown = (Object.keys(samples) as CommandName[]).flatMap((name) => {
  const format = botcliCommands[name] as (...given: readonly unknown[]) => string;
  return samples[name].map((given) => format(...given));
});
const firstDeploy = (['build', 'image'] as const)
  .flatMap((source) => listFirstDeploySteps(origin, 'home', source))
  .flatMap(({ command }) => (command.startsWith('botcli ') ? [command] : []));

it.each([...new Set([...shown, ...firstDeploy])])('botcli accepts the command that a page shows: %s', async (line) => {
  expect(await findUsageProblem(line)).toBeNull();
});

it('no other file of the dashboard contains a botcli command', () => {
  const source = fileURLToPath(new URL('..', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /(?<!\.test)\.tsx?$/.test(path) && !path.startsWith('commands'),
  );
  const found = files.filter((path) => {
    const code = readFileSync(join(source, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    return /botcli (?:cloud|operator|init|project)\b|format(?:Cloud|Botcli)Command/.test(code);
  });
  expect(found).toEqual([]);
});
