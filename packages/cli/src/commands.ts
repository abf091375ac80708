import type { Command } from './command-line/command.ts';

type Loader = () => Promise<{ readonly command: Command }>;

/**
 * All commands of botcli. Help, the command reference and completion are generated from this table. The path of a command's file
 * matches its name: `cloud auth login` is in `commands/cloud/auth/login.ts`.
 */
export const commands: Readonly<Record<string, Loader>> = {
  init: () => import('./commands/init.ts'),
  completion: () => import('./commands/completion.ts'),
  'project add': () => import('./commands/project/add.ts'),
  'project check': () => import('./commands/project/check.ts'),
  'project update': () => import('./commands/project/update.ts'),
  'cloud auth login': () => import('./commands/cloud/auth/login.ts'),
  'cloud auth logout': () => import('./commands/cloud/auth/logout.ts'),
  'cloud auth use-pat': () => import('./commands/cloud/auth/use-pat.ts'),
  'cloud auth status': () => import('./commands/cloud/auth/status.ts'),
  'cloud organizations list': () => import('./commands/cloud/organizations/list.ts'),
  'cloud organizations select': () => import('./commands/cloud/organizations/select.ts'),
  'cloud members list': () => import('./commands/cloud/members/list.ts'),
  'cloud members invite': () => import('./commands/cloud/members/invite.ts'),
  'cloud members set-role': () => import('./commands/cloud/members/set-role.ts'),
  'cloud members remove': () => import('./commands/cloud/members/remove.ts'),
  'cloud regions list': () => import('./commands/cloud/regions/list.ts'),
  'cloud deploy': () => import('./commands/cloud/deploy.ts'),
  'cloud keys create': () => import('./commands/cloud/keys/create.ts'),
  'cloud keys list': () => import('./commands/cloud/keys/list.ts'),
  'cloud keys revoke': () => import('./commands/cloud/keys/revoke.ts'),
  'cloud phone show': () => import('./commands/cloud/phone/show.ts'),
  'cloud phone list': () => import('./commands/cloud/phone/list.ts'),
  'cloud phone connect': () => import('./commands/cloud/phone/connect.ts'),
  'cloud phone disconnect': () => import('./commands/cloud/phone/disconnect.ts'),
  'cloud secrets list': () => import('./commands/cloud/secrets/list.ts'),
  'cloud secrets set': () => import('./commands/cloud/secrets/set.ts'),
  'cloud secrets unset': () => import('./commands/cloud/secrets/unset.ts'),
  'cloud secrets delete': () => import('./commands/cloud/secrets/delete.ts'),
  'cloud secrets history': () => import('./commands/cloud/secrets/history.ts'),
  'cloud secrets rollback': () => import('./commands/cloud/secrets/rollback.ts'),
  'cloud secrets image-pull-secret': () => import('./commands/cloud/secrets/image-pull-secret.ts'),
  'cloud secrets verify': () => import('./commands/cloud/secrets/verify.ts'),
  'cloud secrets diff': () => import('./commands/cloud/secrets/diff.ts'),
  'cloud rooms connect': () => import('./commands/cloud/rooms/connect.ts'),
  'cloud rooms list': () => import('./commands/cloud/rooms/list.ts'),
  'cloud rooms disconnect': () => import('./commands/cloud/rooms/disconnect.ts'),
  'cloud rooms dialin': () => import('./commands/cloud/rooms/dialin.ts'),
  'cloud build list': () => import('./commands/cloud/build/list.ts'),
  'cloud build status': () => import('./commands/cloud/build/status.ts'),
  'cloud build logs': () => import('./commands/cloud/build/logs.ts'),
  'cloud build cancel': () => import('./commands/cloud/build/cancel.ts'),
  'cloud webhooks list': () => import('./commands/cloud/webhooks/list.ts'),
  'cloud webhooks create': () => import('./commands/cloud/webhooks/create.ts'),
  'cloud webhooks update': () => import('./commands/cloud/webhooks/update.ts'),
  'cloud webhooks rotate': () => import('./commands/cloud/webhooks/rotate.ts'),
  'cloud webhooks delete': () => import('./commands/cloud/webhooks/delete.ts'),
  'cloud webhooks test': () => import('./commands/cloud/webhooks/test.ts'),
  'cloud webhooks deliveries': () => import('./commands/cloud/webhooks/deliveries.ts'),
  'cloud webhooks resend': () => import('./commands/cloud/webhooks/resend.ts'),
  'cloud alerts list': () => import('./commands/cloud/alerts/list.ts'),
  'cloud alerts create': () => import('./commands/cloud/alerts/create.ts'),
  'cloud alerts delete': () => import('./commands/cloud/alerts/delete.ts'),
  'cloud audit list': () => import('./commands/cloud/audit/list.ts'),
  'cloud audit verify': () => import('./commands/cloud/audit/verify.ts'),
  'cloud audit export': () => import('./commands/cloud/audit/export.ts'),
  'cloud agent list': () => import('./commands/cloud/agent/list.ts'),
  'cloud agent status': () => import('./commands/cloud/agent/status.ts'),
  'cloud agent start': () => import('./commands/cloud/agent/start.ts'),
  'cloud agent stop': () => import('./commands/cloud/agent/stop.ts'),
  'cloud agent admit': () => import('./commands/cloud/agent/admit.ts'),
  'cloud agent sessions': () => import('./commands/cloud/agent/sessions.ts'),
  'cloud agent conversation': () => import('./commands/cloud/agent/conversation.ts'),
  'cloud agent logs': () => import('./commands/cloud/agent/logs.ts'),
  'cloud agent deployments': () => import('./commands/cloud/agent/deployments.ts'),
  'cloud agent rollback': () => import('./commands/cloud/agent/rollback.ts'),
  'cloud agent delete': () => import('./commands/cloud/agent/delete.ts'),
  'operator doctor': () => import('./commands/operator/doctor.ts'),
  'operator backup': () => import('./commands/operator/backup.ts'),
  'operator restore': () => import('./commands/operator/restore.ts'),
  'operator invite': () => import('./commands/operator/invite.ts'),
  'operator keys create': () => import('./commands/operator/keys/create.ts'),
  'operator vault status': () => import('./commands/operator/vault/status.ts'),
  'operator vault rotate': () => import('./commands/operator/vault/rotate.ts'),
};

export const commandGroups: Readonly<Record<string, string>> = {
  project: 'Maintain a generated project',
  cloud: 'Work with a bothost service',
  'cloud auth': 'Log in, log out, show the current login',
  'cloud organizations': 'Organizations that you can act in',
  'cloud members': 'People in the organization and their roles',
  'cloud regions': 'Regions where bots run',
  'cloud keys': 'API keys of the organization',
  'cloud webhooks': 'Webhooks: addresses that get the events of the organization',
  'cloud alerts': 'Alerts of agents, which send events to webhooks',
  'cloud audit': 'Audit log: who changed what, and who was refused',
  'cloud phone': 'Phone carriers: connect them, and let agents answer their calls',
  'cloud secrets': 'Secret sets: environment variables for bots',
  'cloud rooms': 'Rooms at Daily: the key, and addresses for phone calls',
  'cloud build': 'Builds of uploaded projects',
  'cloud agent': 'Agents with their deployments, sessions and logs',
  operator: 'Operate a service on this machine',
  'operator keys': 'API keys of any organization',
  'operator vault': 'Keys that encrypt secrets',
};

export const commandAliases: Readonly<Record<string, string>> = {
  'cloud auth whoami': 'cloud auth status',
  'operator vault verify': 'operator vault rotate',
};

/**
 * The default command of a group, which gets the words that name no subcommand: `cloud phone parrot` runs `cloud phone show parrot`.
 * An agent with the name of a subcommand, such as `list`, needs the full form.
 */
export const defaultCommands: Readonly<Record<string, string>> = { 'cloud phone': 'cloud phone show' };

/** Words that an alias adds to the command line of its command. */
export const aliasWords: Readonly<Record<string, readonly string[]>> = {
  'operator vault verify': ['organization', '--dry-run'],
};
