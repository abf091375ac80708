// Limits, patterns and defaults of the API. Durations are in seconds and sizes in bytes, unless the name says otherwise. This
// file does not import zod, so that `botcli --help` starts quickly.

export const defaultServerPort = 7420;

/** Matches names of agents and organizations. `resourceNameLengthLimits` limits their length. */
export const resourceNamePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])$/;
export const resourceNameLengthLimits = { minimum: 2, maximum: 54 } as const;
/** Names that agents and organizations cannot have, because they would be ambiguous in a URL path. */
export const reservedResourceNames: readonly string[] = ['webhooks', 'sessions', 'public', 'start'];

export const sessionDurationLimitsSeconds = { minimum: 60, maximum: 14_400, default: 7_200 } as const;
/** Maximum time from the start of an instance until it is ready. After that, its session ends with `BOT_START_TIMEOUT`. */
export const instanceStartTimeoutSeconds = 120;
/**
 * Maximum time from a start request until an instance is ready, including the wait for capacity. After that, the session ends
 * with `BOT_START_TIMEOUT`.
 */
export const maxSessionStartWaitSeconds = 300;
/** Lifetime of a WebSocket token. If no client has connected by then, the session ends with `BOT_CONNECTION_TIMEOUT`. */
export const socketTokenLifetimeSeconds = 300;
/** Maximum time that a request to the session proxy waits for the instance to become ready. Then the request fails with 504. */
export const maxProxyReadinessWaitSeconds = 30;
/**
 * After connecting, a telephone carrier must name the agent of the call within `seconds`, and within its first `bytes` bytes.
 */
export const carrierStartMessageLimits = { seconds: 10, bytes: 16_384 } as const;
/** Buffered messages of a call while its bot starts: seconds of audio (older is dropped), bytes of all others. */
export const carrierMessageBufferLimits = { audioSeconds: 2, otherBytes: 65_536 } as const;
export const phoneCallsPerPage = { default: 20, maximum: 1_000 } as const;
/** Limit for recording refused calls, so that requests without a signature do not fill the database. The log has all of them. */
export const refusedCallRateLimit = { burst: 60, perSecond: 1 / 30 } as const;
/** Maximum size of a message from a telephone carrier. Real messages have a few kilobytes. */
export const maxCarrierMessageBytes = 1_048_576;
/** Idle time after which a warm instance in excess of `min_agents` is stopped. */
export const surplusInstanceIdleSeconds = 300;
/** The value of `Retry-After` in responses with 429 and 503. */
export const retryAfterHeaderSeconds = 5;

/**
 * Maximum size of a start request, and of its field `body` with the transport `websocket`: there, the field becomes part of a
 * URL.
 */
export const maxStartBodyBytes = { default: 1_048_576, websocket: 4_096 } as const;
/** Default maximum size of a request body. */
export const maxRequestBodyBytes = 1_048_576;
/** Maximum Content-Length of a request that the session proxy forwards. */
export const maxProxyBodyBytes = 64 * 1_048_576;

/** Default of `min_agents` in a `deploy.toml` with an image, because a container takes seconds to start. */
export const defaultMinAgentsOfImages = 1;
export const instanceCountLimits = { minimum: 0, maximum: 50, defaultMinimum: 0, defaultMaximum: 50 } as const;

export const agentProfileNames = ['agent-1x', 'agent-2x', 'agent-3x'] as const;
export type AgentProfileName = (typeof agentProfileNames)[number];
export const agentProfileResources = {
  'agent-1x': { cpuMillicores: 500, memoryBytes: 1_073_741_824 },
  'agent-2x': { cpuMillicores: 1_000, memoryBytes: 2_147_483_648 },
  'agent-3x': { cpuMillicores: 1_500, memoryBytes: 3_221_225_472 },
} as const satisfies Record<AgentProfileName, object>;
export const defaultAgentProfile: AgentProfileName = 'agent-1x';

export const itemsPerPage = { default: 10, maximum: 1_000 } as const;
/** The list of an organization's sessions reports at most this number as the total, and accepts offsets up to this number. */
export const maxListedSessions = 100_000;
export const maxApiKeyNameLength = 100;
/** Maximum lifetime of an API key or personal token. A key or token that was created without a lifetime never expires. */
export const maxApiKeyLifetimeSeconds = 10 * 366 * 86_400;
/** A session's time series has one point per `stepSeconds`. Sessions with more than `maximum` points have larger steps. */
export const timeSeriesPointLimits = { maximum: 720, stepSeconds: 5 } as const;
/** Log lines per page. Without a line, a request waits for the first one for at most `waitSeconds`. */
export const linesPerLogPage = { default: 10, maximum: 10_000, waitSeconds: 25 } as const;

/** Levels of Pipecat's log lines, lowest first. */
export const logLevels = ['TRACE', 'DEBUG', 'INFO', 'SUCCESS', 'WARNING', 'ERROR', 'CRITICAL'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Maximum size of a compressed project archive. */
export const maxUploadBytes = 500 * 1_048_576;
/** The lifetime of an upload URL. A new URL for the same content resumes the upload. */
export const uploadUrlLifetimeSeconds = 900;
/** Maximum number of uploads per organization that are not used by a build yet. */
export const maxUnusedUploads = 100;
/** Limits of an unpacked archive. `ratio` is the size relative to the compressed archive; `depth` counts directories. */
export const unpackedArchiveLimits = {
  bytes: 4 * 1_073_741_824,
  ratio: 200,
  entries: 100_000,
  pathBytes: 1_024,
  depth: 64,
} as const;
/**
 * Limits on showing the files of a deployment: of its archive, compressed and unpacked, their number, and the bytes of a file whose
 * content is shown.
 */
export const deploymentFileLimits = {
  archiveBytes: 64 * 1_048_576,
  unpackedBytes: 256 * 1_048_576,
  files: 5_000,
  textBytes: 262_144,
} as const;
export const buildsPerPage = { default: 20, maximum: 100 } as const;
export const linesPerBuildLogPage = { default: 500, maximum: 10_000 } as const;
/** Maximum time that a request for a build log waits for the next line. */
export const buildLogLongPollSeconds = 30;

/** Names of secret sets and image pull secrets, which are case-insensitive. */
export const secretSetNamePattern = /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
/** The rule of `secretSetNamePattern` in words. */
export const secretSetNameRule = 'use 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit';
export const secretSetKeyPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** The rule of `secretSetKeyPattern` in words. */
export const secretSetKeyRule = 'use 1 to 64 letters, digits, underscores and hyphens';
/** Maximum size of a secret value in UTF-8. Linux allows twice as much in one environment variable. */
export const maxSecretValueBytes = 65_536;
/** Maximum total size of the keys and values of a secret set, and maximum number of keys. */
export const secretSetLimits = { bytes: 524_288, keys: 256 } as const;
export const maxSecretSetsPerOrganization = 1_000;
/** Maximum size of a secret write: the largest secret set fits even if JSON escapes every byte, for example as `\u0001`. */
export const maxSecretBodyBytes = 4 * 1_048_576;
export const auditEntriesPerPage = { default: 50, maximum: 1_000 } as const;
/** Token bucket per organization for dry runs, which limits guessing: a dry run reveals whether a value equals the stored one. */
export const secretWriteDryRunRateLimit = { burst: 120, perSecond: 1 } as const;
/** Token bucket per organization for secret writes, each of which adds an audit log entry that is kept for a year. */
export const secretWriteRateLimit = { burst: maxSecretSetsPerOrganization, perSecond: 5 } as const;
/** Maximum number of queued secret writes per organization, and maximum total size of their values. */
export const secretWriteQueueLimits = { requests: 256, bytes: 32 * 1_048_576 } as const;
/** Token bucket per organization for checks of image pull secrets. Each check sends a password to a registry. */
export const imagePullSecretCheckRateLimit = { burst: 20, perSecond: 1 / 6 } as const;
export const secretRevisionsPerPage = { default: 20, maximum: 100 } as const;

/** Secret keys that are rejected, because the service sets or removes these environment variables when it starts a bot. */
const reservedSecretKeys: ReadonlySet<string> = new Set([
  'PORT',
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'TZ',
  'PYTHONPATH',
  'PYTHONDONTWRITEBYTECODE',
  'VIRTUAL_ENV',
  'ICE_CONFIG_URL',
  'PIPECAT_ICE_SERVERS',
  'PIPECAT_ALLOWED_ORIGINS',
  'PIPECAT_SETUP_FILES',
  'PYTHON_DOTENV_DISABLED',
  'PYTHONUNBUFFERED',
  'IMAGE_VERSION',
  'SHUTDOWN_TIMEOUT',
]);

/** Whether the service sets or removes the environment variable `key` of a bot, so that a secret set cannot contain it. */
export function isReservedSecretKey(key: string): boolean {
  return reservedSecretKeys.has(key) || key.startsWith('BOT_') || key.startsWith('BOTHOST_');
}

/** Returns an error message that names the key, or null if the key is not reserved. */
export function findReservedSecretKeyProblem(key: string): string | null {
  if (key === 'PIPECAT_SETUP_FILES')
    return `${key} is reserved: Pipecat runs the Python files that this variable names`;
  return isReservedSecretKey(key) ? `${key} is reserved: the service sets or removes this variable` : null;
}

/** Returns false for text with a NUL or an unpaired surrogate, which an environment variable cannot contain. */
export function hasValidSecretValueCharacters(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text);
}

/**
 * Limits per user, and the maximum number of open invitations per organization. Lengths are in characters. A password may
 * contain any characters, because NIST SP 800-63B recommends a minimum length instead of composition rules.
 */
export const userAccountLimits = {
  emailLength: 254,
  nameLength: 100,
  passwordLength: { minimum: 12, maximum: 128 },
  ownedOrganizations: 20,
  personalTokens: 50,
  openInvitations: 200,
} as const;
/**
 * Lifetimes in seconds. `deviceLogin` is the time in which a person can approve the login of a command-line client, and
 * `deviceToken` the lifetime of the token from such a login.
 */
export const accountCredentialLifetimeSeconds = {
  session: 30 * 86_400,
  invitation: 7 * 86_400,
  passwordReset: 86_400,
  deviceLogin: 600,
  deviceToken: 90 * 86_400,
  authorizationCode: 60,
} as const;

/**
 * Limits of webhooks. `webhooks` is per organization; `responseBytes` is what is kept of a response; lengths are in characters;
 * `secretOverlapHours` is how long requests are signed with both secrets after a rotation.
 */
export const webhookLimits = {
  webhooks: 10,
  urlLength: 2048,
  descriptionLength: 200,
  responseBytes: 1024,
  deliveriesPerPage: 50,
  secretOverlapHours: 24,
} as const;
