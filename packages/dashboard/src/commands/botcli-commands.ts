import { formatBotcliCommand, formatCloudCommand } from './shell-command.ts';

/** Values of options by name. An option without a value is omitted. */
type OptionValues = Readonly<Record<string, string | number | null | undefined>>;

type WebhookOptions = { readonly url: string; readonly events: readonly string[]; readonly description: string };

const formatEvents = (events: readonly string[]) => events.flatMap((event) => ['--event', event]);

/** The commands of `botcli` that pages show. A test parses each with the parser of `botcli`. */
export const botcliCommands = {
  inviteAsOperator: () => formatBotcliCommand('operator', 'invite'),
  logIn: (origin: string) => formatBotcliCommand('cloud', 'auth', 'login', '--api-url', origin),
  storeToken: (origin: string) => formatBotcliCommand('cloud', 'auth', 'use-pat', '--api-url', origin),
  showLogin: () => formatBotcliCommand('cloud', 'auth', 'status'),

  listAgents: (organization: string) => formatCloudCommand(organization, 'agent', 'list'),
  showAgent: (organization: string, agent: string) => formatCloudCommand(organization, 'agent', 'status', agent),
  deleteAgent: (organization: string, agent: string) =>
    formatCloudCommand(organization, 'agent', 'delete', agent, '--yes'),
  startSession: (organization: string | null, agent: string, transport?: string) =>
    formatCloudCommand(organization, 'agent', 'start', agent, ...formatOptions({ transport })),
  listSessions: (organization: string, agent: string, filter: OptionValues) =>
    formatCloudCommand(organization, 'agent', 'sessions', agent, ...formatOptions(filter)),
  showSession: (organization: string | null, agent: string, sessionId: string) =>
    formatCloudCommand(organization, 'agent', 'sessions', agent, '--id', sessionId),
  readConversation: (organization: string, agent: string, sessionId: string, isFollowing: boolean) =>
    formatCloudCommand(
      organization,
      ...['agent', 'conversation', agent, sessionId, ...(isFollowing ? ['--follow'] : [])],
    ),
  deleteConversation: (organization: string, agent: string, sessionId: string) =>
    formatCloudCommand(organization, 'agent', 'conversation', agent, sessionId, '--delete', '--yes'),
  stopSession: (organization: string, agent: string, sessionId: string) =>
    formatCloudCommand(organization, 'agent', 'stop', agent, '--session-id', sessionId, '--force'),
  readLogs: (organization: string | null, agent: string, filter: OptionValues, isFollowing = false) =>
    formatCloudCommand(
      organization,
      ...['agent', 'logs', agent, ...formatOptions(filter), ...(isFollowing ? ['--follow'] : [])],
    ),

  listDeployments: (organization: string, agent: string) =>
    formatCloudCommand(organization, 'agent', 'deployments', agent),
  rollBackAgent: (organization: string, agent: string, deploymentId: string) =>
    formatCloudCommand(organization, 'agent', 'rollback', agent, '--to', deploymentId),
  deploy: () => formatBotcliCommand('cloud', 'deploy'),
  deployFolder: (organization: string, agent: string, folder: string, settings: OptionValues) =>
    formatCloudCommand(organization, 'deploy', agent, '--build-dir', folder, ...formatOptions(settings)),
  deployImage: (organization: string, agent: string, image: string, pullSecret: string) =>
    formatCloudCommand(
      organization,
      ...['deploy', agent, image, ...(pullSecret === '' ? [] : ['--credentials', pullSecret])],
    ),
  deployWithFile: (organization: string, deployFile: string) =>
    formatCloudCommand(organization, 'deploy', '--config-file', deployFile),
  deployBuildAgain: (organization: string, agent: string, buildId: string) =>
    formatCloudCommand(organization, 'deploy', agent, '--build-id', buildId, '--force'),
  cancelBuild: (organization: string, buildId: string) => formatCloudCommand(organization, 'build', 'cancel', buildId),
  readBuildLog: (organization: string, buildId: string) =>
    formatCloudCommand(organization, 'build', 'logs', buildId, '--full'),

  listSecretSets: (organization: string) => formatCloudCommand(organization, 'secrets', 'list', '--no-sets'),
  showSecretSet: (organization: string, set: string) => formatCloudCommand(organization, 'secrets', 'list', set),
  setSecret: (organization: string, set: string, key: string) =>
    formatCloudCommand(organization, 'secrets', 'set', set, key),
  setSecretsFromFile: (organization: string, set: string, file: string) =>
    formatCloudCommand(organization, 'secrets', 'set', set, '--file', file),
  unsetSecret: (organization: string, set: string, key: string) =>
    formatCloudCommand(organization, 'secrets', 'unset', set, key),
  showSecretHistory: (organization: string, set: string) => formatCloudCommand(organization, 'secrets', 'history', set),
  rollBackSecrets: (organization: string, set: string, revision: number) =>
    formatCloudCommand(organization, 'secrets', 'rollback', set, String(revision)),
  deleteSecretSet: (organization: string, set: string, isForced: boolean) =>
    formatCloudCommand(organization, 'secrets', 'delete', set, ...(isForced ? ['--force'] : [])),
  setImagePullSecret: (organization: string, set: string, registry: string, username: string) =>
    formatCloudCommand(organization, 'secrets', 'image-pull-secret', set, registry, '--username', username),
  verifyImagePullSecret: (organization: string, set: string) =>
    formatCloudCommand(organization, 'secrets', 'verify', set),

  listKeys: (organization: string) => formatCloudCommand(organization, 'keys', 'list'),
  createKey: (organization: string | null, name: string, kind: 'private' | 'public', days: string) =>
    formatCloudCommand(
      organization,
      ...['keys', 'create', name, '--kind', kind, ...(days === '' ? [] : ['--expires', `${days}d`])],
    ),
  revokeKey: (organization: string, keyId: string) => formatCloudCommand(organization, 'keys', 'revoke', keyId),
  listRooms: (organization: string) => formatCloudCommand(organization, 'rooms', 'list'),
  connectRooms: (organization: string, hasDialinSecret: boolean) =>
    formatCloudCommand(organization, 'rooms', 'connect', 'daily', ...(hasDialinSecret ? ['--dialin-secret'] : [])),
  disconnectRooms: (organization: string) => formatCloudCommand(organization, 'rooms', 'disconnect', 'daily', '--yes'),
  listWebhooks: (organization: string) => formatCloudCommand(organization, 'webhooks', 'list'),
  createWebhook: (organization: string, { url, events, description }: WebhookOptions) =>
    formatCloudCommand(
      organization,
      ...[
        'webhooks',
        'create',
        url || 'URL',
        ...formatEvents(events),
        ...formatOptions({ description: description || null }),
      ],
    ),
  updateWebhook: (organization: string, webhookId: string, { url, events, description }: WebhookOptions) =>
    formatCloudCommand(
      organization,
      ...[
        'webhooks',
        'update',
        webhookId,
        ...formatOptions({ url, description: description || null }),
        ...formatEvents(events),
      ],
    ),
  deleteWebhook: (organization: string, webhookId: string) =>
    formatCloudCommand(organization, 'webhooks', 'delete', webhookId),
  listWebhookDeliveries: (organization: string, webhookId: string) =>
    formatCloudCommand(organization, 'webhooks', 'deliveries', webhookId),

  listAlerts: (organization: string) => formatCloudCommand(organization, 'alerts', 'list'),
  createAlert: (
    organization: string,
    agent: string,
    { kind, threshold, windowMinutes }: { kind: string; threshold?: number; windowMinutes?: number },
  ) => {
    const window = windowMinutes === undefined ? null : `${windowMinutes}m`;
    return formatCloudCommand(
      organization,
      ...['alerts', 'create', agent, ...formatOptions({ kind, threshold, window })],
    );
  },
  deleteAlert: (organization: string, agent: string, alertId: string) =>
    formatCloudCommand(organization, 'alerts', 'delete', agent, alertId),

  listPhoneCarriers: (organization: string) => formatCloudCommand(organization, 'phone', 'list'),
  showPhone: (organization: string, agentName: string) => formatCloudCommand(organization, 'phone', 'show', agentName),
  connectPhone: (organization: string, carrier: string) =>
    formatCloudCommand(organization, 'phone', 'connect', carrier),
  disconnectPhone: (organization: string, carrier: string) =>
    formatCloudCommand(organization, 'phone', 'disconnect', carrier, '--yes'),
  listMembers: (organization: string) => formatCloudCommand(organization, 'members', 'list'),
  inviteMember: (organization: string, email: string | null, role: string) =>
    formatCloudCommand(organization, ...['members', 'invite', ...(email === null ? [] : [email]), '--role', role]),
  removeMember: (organization: string, email: string) => formatCloudCommand(organization, 'members', 'remove', email),
  listAuditEntries: (organization: string, filter: OptionValues) =>
    formatCloudCommand(organization, 'audit', 'list', ...formatOptions(filter)),
  listRegions: (organization: string) => formatCloudCommand(organization, 'regions', 'list'),
} as const;

function formatOptions(values: OptionValues): string[] {
  return Object.entries(values).flatMap(([name, value]) => (value == null ? [] : [`--${name}`, String(value)]));
}
