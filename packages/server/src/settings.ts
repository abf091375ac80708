import { isAbsolute, resolve } from 'node:path';
import {
  apiKeyPrefixes,
  conversationLevels,
  defaultServerPort,
  normalizeRegistryHost,
  ResourceName,
} from '@bothost/contract';
import { runtimeKinds } from '@bothost/runtime/registry';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { IceServersSetting } from './ice-servers-setting.ts';

/** A setting: its variable names, default value, and description in `docs/configuration.md`. */
export type Setting<T> = {
  /** Names of the environment variable. If several of them are set, the first one in this list is used. */
  readonly names: readonly string[];
  readonly schema: z.ZodType<T, string | undefined>;
  readonly description: string;
  /** The default value as shown in the documentation. By default, that of the schema. */
  readonly shownDefault: string;
  /** A secret can also be read from the file that `<NAME>_FILE` names, and is never printed. */
  readonly secret: boolean;
};

type SettingRow<T> = Omit<Setting<T>, 'secret' | 'shownDefault'> & Partial<Pick<Setting<T>, 'shownDefault'>>;
const setting = <T>(row: SettingRow<T>) => ({ shownDefault: describeDefault(row), ...row, secret: false }) as const;
const secretSetting = <T>(row: SettingRow<T>) =>
  ({ shownDefault: describeDefault(row), ...row, secret: true }) as const;

function describeDefault<T>({ names, schema }: SettingRow<T>): string {
  const value = schema.safeParse(undefined).data;
  return `\`${names[0]?.endsWith('_MB') ? Number(value) / megabytesToBytes(1) : value}\``;
}

const integer = (minimum: number, maximum: number) =>
  z.string().regex(/^\d+$/, 'not a whole number').transform(Number).pipe(z.number().min(minimum).max(maximum));
const megabytesToBytes = (megabytes: number) => megabytes * 1024 * 1024;
const commaSeparated = z.string().transform((text) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean),
);
const origin = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/+$/, ''));
const bootstrapKey = (prefix: string) =>
  z
    .string()
    .refine(
      (key) => key.startsWith(prefix) && key.length >= prefix.length + 32,
      `not ${prefix} and at least 32 characters`,
    )
    .optional();

const registry = z.string().transform((text, check) => {
  const parsed = normalizeRegistryHost(text);
  if ('host' in parsed && !/[^/]\/[^/]/.test(parsed.host)) return parsed.host;
  // Hide the part of the URL before an @, because it may contain a password.
  const shown = text.replace(/^.*@/, '...@');
  check.addIssue({ code: 'custom', message: `not a registry host (host, host:port or http://host:port): ${shown}` });
  return z.NEVER;
});

/** Parses `host`, `host:port` or `http://host:port` to the origin of a URL; the default scheme is https. */
const webhookHost = z.string().transform((text, check) => {
  const whole = text.includes('://') ? text : `https://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  const shown = text.replace(/^.*@/, '...@');
  check.addIssue({ code: 'custom', message: `not a host (host, host:port or http://host:port): ${shown}` });
  return z.NEVER;
});

const proxyRanges = ['loopback', 'linklocal', 'uniquelocal'];
const trustedProxies = z.string().transform((text, check): number | string[] => {
  if (/^\d+$/.test(text)) return Number(text);
  const proxies = commaSeparated.parse(text);
  const isRange = (word: string) => proxyRanges.includes(word) || ipaddr.isValid(word) || ipaddr.isValidCIDR(word);
  const invalid = proxies.find((word) => !isRange(word));
  if (invalid !== undefined) check.addIssue({ code: 'custom', message: `not an IP address or CIDR range: ${invalid}` });
  return proxies;
});

/** Variables of npm, pip and uv: package indexes, proxies, certificates. Usually without a secret of the service. */
const wellKnownBuildVariables = [
  'npm_config_registry',
  'PIP_INDEX_URL',
  'PIP_EXTRA_INDEX_URL',
  'PIP_FIND_LINKS',
  'PIP_CERT',
  'UV_INDEX_URL',
  'UV_DEFAULT_INDEX',
  'UV_INDEX',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
] as const;

/** Capabilities that Docker gives containers by default, without those for raw sockets, devices and other root directories. */
const allowedCapabilities = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETGID',
  'SETUID',
] as const;

/** Default grace period for live sessions at shutdown. Shorter on a terminal, where a person waits. */
export const defaultShutdownGraceSeconds = { onTerminal: 10, otherwise: 300 } as const;

export const settings = {
  host: setting({
    names: ['BOTHOST_HOST'],
    schema: z.string().default('127.0.0.1'),
    description: 'Address to listen on.',
  }),
  port: setting({
    names: ['BOTHOST_PORT', 'PORT'],
    schema: integer(0, 65_535).default(defaultServerPort),
    description: 'Port to listen on; 0 picks any free port.',
  }),
  publicUrl: setting({
    names: ['BOTHOST_PUBLIC_URL'],
    schema: origin.optional(),
    description:
      'URL at which clients reach the service, such as `https://bots.example.com`. Start responses contain it.',
    shownDefault: 'the URL in the headers of a trusted proxy, otherwise the address that the service listens on',
  }),
  internalUrl: setting({
    names: ['BOTHOST_INTERNAL_URL'],
    schema: origin.optional(),
    description:
      'URL at which bots reach the service, such as `http://172.17.0.1:7420`. Containers need it to get new TURN credentials during a session ([media.md](media.md)), and images of Pipecat Cloud to report times and numbers of their conversations ([images.md](images.md#conversations-of-pipecat-clouds-images)).',
    shownDefault: 'the address that the service listens on; with `BOTHOST_RUNTIME=docker` or `kubernetes` none',
  }),
  iceServers: secretSetting({
    names: ['BOTHOST_ICE_SERVERS'],
    schema: IceServersSetting.default([]),
    description:
      'STUN and TURN servers for WebRTC, as a JSON list of `RTCIceServer`: `[{"urls": "turn:turn.example.com:3478"}]`. Clients and bots get the list with each session. See [media.md](media.md).',
    shownDefault: 'none: WebRTC works where the client reaches the address of the bot',
  }),
  turnSecret: secretSetting({
    names: ['BOTHOST_TURN_SECRET'],
    schema: z.string().min(1).optional(),
    description:
      'The secret that the service shares with the TURN servers (`static-auth-secret` of coturn). TURN servers in `BOTHOST_ICE_SERVERS` without `username` and `credential` get credentials for one session, which expire.',
    shownDefault: 'none',
  }),
  dailyApiUrl: setting({
    names: ['BOTHOST_DAILY_API_URL'],
    schema: origin.default('https://api.daily.co/v1'),
    description:
      "Address of Daily's REST API, for sessions in rooms. See [rooms.md](rooms.md). Organizations store their own keys.",
  }),
  liveKitUrl: setting({
    names: ['BOTHOST_LIVEKIT_URL'],
    schema: z
      .url({ protocol: /^wss?$/, error: 'not a URL that begins with wss:// or ws://' })
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    description:
      'The LiveKit server whose rooms sessions with the transport `livekit` use, such as `wss://livekit.example.com`. The service, bots and clients connect to it. See [livekit.md](livekit.md).',
    shownDefault: 'none: sessions cannot use LiveKit',
  }),
  liveKitApiKey: setting({
    names: ['BOTHOST_LIVEKIT_API_KEY'],
    schema: z.string().min(1).optional(),
    description: 'API key of the LiveKit server, the name of a secret in its `keys`.',
    shownDefault: 'none',
  }),
  liveKitApiSecret: secretSetting({
    names: ['BOTHOST_LIVEKIT_API_SECRET'],
    schema: z.string().min(1).optional(),
    description:
      'The secret of the API key. The service signs a token with it for each participant of a room; no bot gets it.',
    shownDefault: 'none',
  }),
  trustedProxies: setting({
    names: ['BOTHOST_TRUSTED_PROXIES'],
    schema: trustedProxies.default([]),
    description:
      'Reverse proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host` the service believes: addresses and CIDR ranges, separated by commas, and the names `loopback`, `linklocal` and `uniquelocal`; or the number of proxies in front of the service, if its port cannot be reached without them. See [reverse-proxy.md](reverse-proxy.md).',
    shownDefault: 'none',
  }),
  dataDirectory: setting({
    names: ['BOTHOST_DATA_DIR'],
    schema: z.string().refine(isAbsolute, 'not an absolute path').optional(),
    description: 'Directory for all data: the embedded database, the key file, instances and their output.',
    shownDefault: '`$XDG_DATA_HOME/bothost` (`~/.local/share/bothost`); for root `/var/lib/bothost`',
  }),
  databaseUrl: secretSetting({
    names: ['DATABASE_URL'],
    schema: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
    description: 'URL of a PostgreSQL server, version 15 or later, to use instead of the embedded one.',
    shownDefault: 'the embedded database',
  }),
  region: setting({
    names: ['BOTHOST_REGION'],
    schema: ResourceName.default('us-west'),
    description: 'The region whose bots this service runs.',
  }),
  agents: setting({
    names: ['BOTHOST_AGENTS'],
    schema: commaSeparated.transform((paths) => paths.map((path) => resolve(path))).optional(),
    description: 'Directories to serve as agents, separated by commas. An empty value serves none.',
    shownDefault: 'the sample agent `parrot`',
  }),
  runtime: setting({
    names: ['BOTHOST_RUNTIME'],
    schema: z.enum(runtimeKinds, 'not process, docker or kubernetes').default('process'),
    description:
      'How bots run. `process`: as processes on this machine, from uploaded projects. `docker`: as containers of the Docker engine on this machine, from container images; see [images.md](images.md). `kubernetes` (experimental): as pods of a Kubernetes cluster, from container images.',
  }),
  dockerHost: setting({
    names: ['BOTHOST_DOCKER_HOST'],
    schema: z
      .string()
      .regex(/^unix:\/\/\/./, 'not unix:// and an absolute path')
      .default('unix:///var/run/docker.sock'),
    description: 'With `BOTHOST_RUNTIME=docker`: the socket of the Docker engine, such as `unix:///run/docker.sock`.',
  }),
  imageBytes: setting({
    names: ['BOTHOST_IMAGE_MB'],
    schema: integer(1, 1_073_741_824).default(10_240).transform(megabytesToBytes),
    description:
      'With `BOTHOST_RUNTIME=docker`: megabytes that a container image may have. The pull of a larger one is canceled, and its deployment fails.',
  }),
  allowsLocalImages: setting({
    names: ['BOTHOST_LOCAL_IMAGES'],
    schema: z
      .enum(['true', 'false'])
      .default('false')
      .transform((text) => text === 'true'),
    description:
      'Whether a deployment may name an image that the Docker engine or the nodes have, and that is in no registry. Every organization can then run every image that they have.',
  }),
  containerCapabilities: setting({
    names: ['BOTHOST_CONTAINER_CAPABILITIES'],
    schema: commaSeparated.pipe(z.array(z.enum(allowedCapabilities))).default([]),
    description: `With \`BOTHOST_RUNTIME=docker\` or \`kubernetes\`: Linux capabilities of all bots, separated by commas, for images whose entry point switches users: ${allowedCapabilities.map((one) => `\`${one}\``).join(', ')}. See [images.md](images.md).`,
    shownDefault: 'none',
  }),
  kubeconfig: setting({
    names: ['KUBECONFIG'],
    schema: z.string().optional(),
    description:
      'With `BOTHOST_RUNTIME=kubernetes`, if the service does not run in the cluster: path of a kubeconfig file, whose current context it uses.',
    shownDefault: "the service account of the service's pod",
  }),
  kubernetesNamespace: setting({
    names: ['BOTHOST_KUBERNETES_NAMESPACE'],
    schema: z
      .string()
      .regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/, 'not the name of a namespace')
      .optional(),
    description: 'With `BOTHOST_RUNTIME=kubernetes`: the namespace of the pods.',
    shownDefault: 'that of the service account, or of the context in the kubeconfig file',
  }),
  kubernetesPodTemplate: setting({
    names: ['BOTHOST_KUBERNETES_POD_TEMPLATE'],
    schema: z.string().refine(isAbsolute, 'not an absolute path').optional(),
    description:
      'With `BOTHOST_RUNTIME=kubernetes`: path of a YAML file with what all pods get in addition: `metadata` (`labels` and `annotations`), `spec` (of the pod, without `containers`) and `container`. Its values replace those of the service, and its lists are added to them.',
    shownDefault: 'none',
  }),
  kubernetesUsage: setting({
    names: ['BOTHOST_KUBERNETES_USAGE'],
    schema: z.enum(['kubelet', 'off'], 'not kubelet or off').default('kubelet'),
    description:
      'With `BOTHOST_RUNTIME=kubernetes`: whether CPU and memory of sessions are read from the kubelets of the nodes, which needs the right to get `nodes/metrics`, or not at all (`off`).',
  }),
  rootKey: secretSetting({
    names: ['BOTHOST_KEY'],
    schema: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'not 64 hexadecimal digits')
      .optional(),
    description: 'The root key, 64 hexadecimal digits. Servers that share a database must have the same key.',
    shownDefault: 'the file `key` in the data directory, which the first start creates',
  }),
  vaultKeys: secretSetting({
    names: ['BOTHOST_VAULT_KEYS'],
    schema: z
      .string()
      .transform((text) => text.split(/[\s,]+/).filter(Boolean))
      .refine((keys) => keys.every((key) => /^[0-9a-f]{64}$/.test(key)), 'not 64 hexadecimal digits for each key')
      .default([]),
    description:
      'Root keys of the secrets, 64 hexadecimal digits each, separated by commas or lines. Each of them can decrypt secrets; `botcli operator vault rotate root` encrypts with the first.',
    shownDefault: 'a key derived from `BOTHOST_KEY` if that is set, otherwise files in the data directory',
  }),
  operatorToken: secretSetting({
    names: ['BOTHOST_OPERATOR_TOKEN'],
    schema: z
      .string()
      .regex(/^[\x21-\x7e]{32,}$/, 'not 32 or more characters without spaces')
      .optional(),
    description: 'The token that authenticates the `botcli operator` commands.',
    shownDefault: 'the file `operator-token` in the data directory, which the first start creates',
  }),
  bootstrapOrganization: setting({
    names: ['BOTHOST_BOOTSTRAP_ORGANIZATION'],
    schema: ResourceName.optional(),
    description: 'Name of the organization that the first start creates.',
    shownDefault: '`home`',
  }),
  bootstrapPrivateKey: secretSetting({
    names: ['BOTHOST_BOOTSTRAP_PRIVATE_KEY'],
    schema: bootstrapKey(apiKeyPrefixes.private),
    description: 'Private key that the first start uses instead of creating one: `sk_` and at least 32 characters.',
    shownDefault: 'a new key',
  }),
  bootstrapPublicKey: secretSetting({
    names: ['BOTHOST_BOOTSTRAP_PUBLIC_KEY'],
    schema: bootstrapKey(apiKeyPrefixes.public),
    description: 'Public key that the first start uses instead of creating one: `pk_` and at least 32 characters.',
    shownDefault: 'a new key',
  }),
  openIdIssuer: setting({
    names: ['BOTHOST_OPENID_ISSUER'],
    schema: origin.optional(),
    description:
      'OpenID Connect provider whose accounts may sign in: its issuer, such as `https://accounts.example.com`. Everybody with an account there can sign in and create organizations, so use a provider of your own, or limit `BOTHOST_OPENID_EMAIL_DOMAINS`. See [accounts.md](accounts.md).',
    shownDefault: 'people sign in with passwords only',
  }),
  openIdClientId: setting({
    names: ['BOTHOST_OPENID_CLIENT_ID'],
    schema: z.string().optional(),
    description: 'Client id of this service at the OpenID Connect provider.',
    shownDefault: 'people sign in with passwords only',
  }),
  openIdClientSecret: secretSetting({
    names: ['BOTHOST_OPENID_CLIENT_SECRET'],
    schema: z.string().optional(),
    description: 'Client secret of this service at the OpenID Connect provider.',
    shownDefault: 'people sign in with passwords only',
  }),
  openIdName: setting({
    names: ['BOTHOST_OPENID_NAME'],
    schema: z.string().default('OpenID Connect'),
    description: 'Name of the OpenID Connect provider on the sign-in page.',
  }),
  openIdEmailDomains: setting({
    names: ['BOTHOST_OPENID_EMAIL_DOMAINS'],
    schema: commaSeparated.default([]),
    description:
      'Domains of e-mail addresses that may sign in with OpenID Connect, separated by commas. The provider must have verified the address.',
    shownDefault: 'all',
  }),
  corsOrigins: setting({
    names: ['BOTHOST_CORS_ORIGINS'],
    schema: commaSeparated.default(['*']),
    description: 'Origins whose web pages may use the public API, separated by commas; `*` for all.',
    shownDefault: '`*`',
  }),
  shutdownGraceSeconds: setting({
    names: ['BOTHOST_SHUTDOWN_GRACE'],
    schema: integer(0, 86_400).optional(),
    description: 'Seconds that live sessions get to end on their own when the service stops.',
    shownDefault: `${defaultShutdownGraceSeconds.onTerminal} on a terminal, otherwise ${defaultShutdownGraceSeconds.otherwise}`,
  }),
  onStop: setting({
    names: ['BOTHOST_ON_STOP'],
    schema: z.enum(['end', 'leave']).default('end'),
    description:
      'Whether a stopping service ends bots and database (`end`), or leaves them running for the next server (`leave`), for example during an upgrade. In a container, the database always ends with the service.',
  }),
  retentionDays: setting({
    names: ['BOTHOST_SESSION_RETENTION_DAYS'],
    schema: integer(0, 36_500).default(90),
    description: 'Days for which ended sessions are kept; 0 keeps them forever.',
  }),
  startsAtOnce: setting({
    names: ['BOTHOST_STARTS_AT_ONCE'],
    schema: integer(1, 10_000).optional(),
    description:
      'Instances of one organization that may start at the same time. The others wait; their start deadline begins when they start.',
    shownDefault: '4 for each CPU, and 32 in a Kubernetes region',
  }),
  buildsAtOnce: setting({
    names: ['BOTHOST_BUILDS_AT_ONCE'],
    schema: integer(1, 1_000).optional(),
    description: 'Maximum number of builds that run at the same time. Each organization has at most one running build.',
    shownDefault: 'one for each CPU',
  }),
  buildTimeoutSeconds: setting({
    names: ['BOTHOST_BUILD_TIMEOUT'],
    schema: integer(1, 86_400).default(600),
    description: 'Seconds that a build may take: unpacking the project, installing what it needs and building it.',
  }),
  buildRetentionDays: setting({
    names: ['BOTHOST_BUILD_RETENTION_DAYS'],
    schema: integer(0, 36_500).default(30),
    description:
      'Days after which an unused build is removed; 0 keeps all. The builds of the last ten deployments of an agent stay.',
  }),
  uploadRetentionHours: setting({
    names: ['BOTHOST_UPLOAD_RETENTION_HOURS'],
    schema: integer(1, 876_000).default(24),
    description: 'Hours after which an upload is removed if it is incomplete or was never built.',
  }),
  buildMemoryBytes: setting({
    names: ['BOTHOST_BUILD_MEMORY_MB'],
    schema: integer(64, 1_048_576).default(4096).transform(megabytesToBytes),
    description: 'Memory in megabytes that one build may use.',
  }),
  buildProcessors: setting({
    names: ['BOTHOST_BUILD_CPUS'],
    schema: integer(1, 1024).default(2),
    description: 'Processors that one build may use.',
  }),
  buildEnvironment: setting({
    names: ['BOTHOST_BUILD_ENVIRONMENT'],
    schema: commaSeparated.default([...wellKnownBuildVariables]),
    description:
      "Names of the service's environment variables that builds see, separated by commas: addresses of package indexes, proxies and certificates, and tokens for private indexes. Every project that is deployed here can read them. Passwords in them are masked in the log of a build.",
    shownDefault: wellKnownBuildVariables.map((one) => `\`${one}\``).join(', '),
  }),
  installsUv: setting({
    names: ['BOTHOST_INSTALL_UV'],
    schema: z
      .enum(['true', 'false'])
      .default('true')
      .transform((text) => text === 'true'),
    description:
      'Whether the service installs uv from the Python package index, once and verified by its hash, if `PATH` has none. Without uv, builds of Python projects fail.',
  }),
  forkServerMemoryBytes: setting({
    names: ['BOTHOST_FORK_SERVER_MEMORY_MB'],
    schema: integer(0, 1_048_576).transform(megabytesToBytes).optional(),
    description:
      'Memory in megabytes for all fork servers, the processes that import a Python bot once and fork its instances. Above this limit, the service stops the least recently used fork server; until it runs again, new instances of its agent import the bot themselves.',
    shownDefault: "a quarter of the machine's memory",
  }),
  instanceDiskBytes: setting({
    names: ['BOTHOST_INSTANCE_DISK_MB'],
    schema: integer(1, 1_073_741_824).default(1_024).transform(megabytesToBytes),
    description:
      'Megabytes of disk space that one instance may use: its home directory, its output, and deleted files that it holds open.',
  }),
  buildDiskBytes: setting({
    names: ['BOTHOST_BUILD_DISK_MB'],
    schema: integer(1, 1_073_741_824).default(8_192).transform(megabytesToBytes),
    description: 'Megabytes of disk space that one build may use, including what it downloads and installs.',
  }),
  organizationDiskBytes: setting({
    names: ['BOTHOST_ORGANIZATION_DISK_MB'],
    schema: integer(1, 1_073_741_824).default(51_200).transform(megabytesToBytes),
    description:
      'Megabytes of disk space that one organization may use: uploaded archives, prepared projects, environments and caches, and its running builds and instances.',
  }),
  diskReserveBytes: setting({
    names: ['BOTHOST_DISK_RESERVE_MB'],
    schema: integer(0, 1_073_741_824).default(1_024).transform(megabytesToBytes),
    description:
      'Megabytes of disk space that stay free for the service. When less is free, it starts no sessions and builds; before that, it ends the bots and builds that write the most. 0 means no reserve.',
  }),
  logRetentionDays: setting({
    names: ['BOTHOST_LOG_RETENTION_DAYS'],
    schema: integer(0, 36_500).default(30),
    description: 'Days for which the output of ended bots is kept; 0 keeps it until the size limit is reached.',
  }),
  conversationRetentionDays: setting({
    names: ['BOTHOST_CONVERSATION_RETENTION_DAYS'],
    schema: integer(0, 36_500).default(30),
    description:
      'Days for which the lines of conversations are kept; 0 keeps them as long as their sessions. Their numbers are kept as long as the sessions.',
  }),
  recordingRetentionDays: setting({
    names: ['BOTHOST_RECORDING_RETENTION_DAYS'],
    schema: integer(0, 36_500).default(7),
    description: 'Days for which the recordings of conversations are kept; 0 keeps them as long as their sessions.',
  }),
  logSessionBytes: setting({
    names: ['BOTHOST_LOG_SESSION_MB'],
    schema: integer(1, 1_048_576).default(64).transform(megabytesToBytes),
    description:
      'Megabytes of output kept per session. Of longer output, the first quarter and the last half are kept.',
  }),
  logTotalBytes: setting({
    names: ['BOTHOST_LOG_TOTAL_MB'],
    schema: integer(1, 1_073_741_824).default(10_240).transform(megabytesToBytes),
    description:
      'Megabytes of output of ended bots kept in total; beyond it, the oldest of the organizations with the most output is removed.',
  }),
  auditRetentionDays: setting({
    names: ['BOTHOST_AUDIT_RETENTION_DAYS'],
    // The database enforces the minimum of 30 days too: the trigger `audit_events_stay` refuses to delete audit entries
    // that are less than 30 days old.
    schema: integer(0, 36_500)
      .refine((days) => days === 0 || days >= 30, 'less than 30')
      .default(365),
    description: 'Days for which entries of the audit log are kept, at least 30; 0 keeps them forever.',
  }),
  registries: setting({
    names: ['BOTHOST_REGISTRIES'],
    schema: commaSeparated.pipe(z.array(registry)).default([]),
    description:
      'Image registries that deploys and `--verify` may reach on private addresses or, with the prefix `http://`, without TLS; separated by commas, as `host` or `host:port`. Every organization can make the service connect to them.',
    shownDefault: 'only registries on public addresses, with TLS',
  }),
  registryTokenHosts: setting({
    names: ['BOTHOST_REGISTRY_TOKEN_HOSTS'],
    schema: commaSeparated
      .transform((pairs) => pairs.map((pair) => pair.split('=')))
      .pipe(z.array(z.tuple([registry, registry])))
      .default([]),
    description:
      'Registries whose tokens come from a different host, separated by commas, as `registry.example.com=gitlab.example.com`. The service may send credentials for the first host to the second.',
    shownDefault: 'those of Docker Hub and GitLab.com',
  }),
  webhookHosts: setting({
    names: ['BOTHOST_WEBHOOK_HOSTS'],
    schema: commaSeparated.pipe(z.array(webhookHost)).default([]),
    description:
      'Hosts that webhooks may be sent to even on private addresses, separated by commas, as `host` or `host:port`; with the prefix `http://`, without TLS. Every organization can make the service send requests to them. See [webhooks.md](webhooks.md).',
    shownDefault: 'only hosts on public addresses, with TLS',
  }),
  webhookRetentionDays: setting({
    names: ['BOTHOST_WEBHOOK_RETENTION_DAYS'],
    schema: integer(0, 36_500).default(30),
    description:
      'Days for which the deliveries of webhooks are kept after they succeeded or failed; 0 keeps them forever.',
  }),
  maxConversationLevel: setting({
    names: ['BOTHOST_MAX_CONVERSATION_LEVEL'],
    schema: z.enum(conversationLevels).default('recording'),
    description:
      'The most that the service keeps of conversations, for all agents: `off`, `timings`, `transcript` or `recording`. A lower level holds from the next session of every agent. See [conversations.md](conversations.md).',
  }),
  metricsToken: secretSetting({
    names: ['BOTHOST_METRICS_TOKEN'],
    schema: z.string().min(1).optional(),
    description: 'If set, `/metrics` requires it as a bearer token.',
    shownDefault: '`/metrics` is open to anybody who can reach the port',
  }),
  logLevel: setting({
    names: ['BOTHOST_LOG_LEVEL'],
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    description: 'The lowest level of messages that are logged: `trace`, `debug`, `info`, `warn`, `error` or `silent`.',
  }),
} as const;
