// Limits and patterns of the API. Durations are in seconds and sizes in bytes, unless the name says otherwise.

/** Names of agents and organizations in paths; `nameLength` limits their length. */
export const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])$/;
export const nameLength = { minimum: 2, maximum: 54 } as const;
/** These names would be ambiguous in a path. */
export const reservedNames: readonly string[] = ['webhooks', 'sessions', 'public', 'start'];

export const sessionSeconds = { minimum: 60, maximum: 14_400, default: 7_200 } as const;
/** An instance that is not ready this long after a server began its start fails, and its session ends with `BOT_START_TIMEOUT`. */
export const startDeadlineSeconds = 120;
/** Without a ready instance this long after its request, a session ends with `BOT_START_TIMEOUT`, however late its start began. */
export const startWaitSeconds = 300;
/** Lifetime of a WebSocket token. A session without a client by then ends with `BOT_CONNECTION_TIMEOUT`. */
export const socketTokenSeconds = 300;
/** A proxied request waits this long for its instance to become ready, then fails with 504. */
export const proxyHoldSeconds = 30;
/** How long a carrier may take, and how many bytes it may send, before the message that contains the agent of a call. */
export const callOpening = { seconds: 10, bytes: 16_384 } as const;
/** While a bot starts, this much of a call is buffered: the latest audio and other messages. */
export const heldCall = { audioSeconds: 2, otherBytes: 65_536 } as const;
/** Maximum size of a carrier's message. Real messages have a few kilobytes. */
export const carrierMessageBytes = 1_048_576;
/** After this time, a warm instance above `min_agents` is stopped. */
export const warmSurplusSeconds = 300;
/** The value of `Retry-After` in responses with 429 and 503. */
export const retryAfterSeconds = 5;

/** Maximum size of the body of a start request. With the transport websocket, the body becomes part of a URL. */
export const startBodyBytes = { default: 1_048_576, websocket: 4_096 } as const;
/** Maximum size of the body of any other private operation. */
export const requestBodyBytes = 1_048_576;
/** Maximum size of a body with a Content-Length that is sent through the session proxy. */
export const proxyBodyBytes = 64 * 1_048_576;

export const agentInstances = { minimum: 0, maximum: 50, defaultMinimum: 0, defaultMaximum: 50 } as const;

export const profiles = {
  'agent-1x': { cpuMillicores: 500, memoryBytes: 1_073_741_824 },
  'agent-2x': { cpuMillicores: 1_000, memoryBytes: 2_147_483_648 },
  'agent-3x': { cpuMillicores: 1_500, memoryBytes: 3_221_225_472 },
} as const;
export type ProfileName = keyof typeof profiles;
export const defaultProfile: ProfileName = 'agent-1x';

export const itemsPerPage = { default: 10, maximum: 1_000 } as const;
export const apiKeyNameLength = 100;
/** Maximum number of points in a session's time series. Longer sessions have larger steps. */
export const seriesPoints = { maximum: 720, stepSeconds: 5 } as const;
/** `waitSeconds` is how long a request may wait for the first line. */
export const linesPerLogPage = { default: 10, maximum: 10_000, waitSeconds: 25 } as const;

/** Maximum size of a compressed project archive. */
export const uploadBytes = 500 * 1_048_576;
/** The lifetime of an upload URL. A new URL for the same content resumes the upload. */
export const uploadUrlSeconds = 900;
/** Maximum number of uploads without a build in an organization. */
export const unusedUploads = 100;
/** Limits of an unpacked archive. `ratio` is the size relative to the compressed archive; `depth` counts directories. */
export const unpackedArchiveLimits = {
  bytes: 4 * 1_073_741_824,
  ratio: 200,
  entries: 100_000,
  pathBytes: 1_024,
  depth: 64,
} as const;
export const buildsPerPage = { default: 20, maximum: 100 } as const;
export const linesPerBuildLogPage = { default: 500, maximum: 10_000 } as const;
/** How long a request for a build log may wait for the next line. */
export const buildLogWaitSeconds = 30;

/** Names of secret sets and image pull secrets, which are case-insensitive. */
export const secretSetNamePattern = /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
export const secretKeyPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** Maximum size of a value in UTF-8. Linux allows twice as much in one environment variable. */
export const secretValueBytes = 65_536;
/** Maximum size of all keys and values of a set, and maximum number of keys. */
export const secretSetLimits = { bytes: 524_288, keys: 256 } as const;
export const secretSetsPerOrganization = 1_000;
/** Large enough for the largest set if JSON escapes every byte, for example as `\u0001`. */
export const secretBodyBytes = 4 * 1_048_576;
export const auditEntriesPerPage = { default: 50, maximum: 1_000 } as const;
/** Token bucket per organization for dry runs of secret writes, which reveal whether a guessed value is right. */
export const secretDryRuns = { burst: 120, perSecond: 1 } as const;
/** Token bucket per organization for secret writes, rollbacks and deletions, whose audit entries are kept for a year. */
export const secretWrites = { burst: secretSetsPerOrganization, perSecond: 5 } as const;
/** Maximum number of queued secret writes per organization, and of the bytes of their values. */
export const waitingSecretWrites = { requests: 256, bytes: 32 * 1_048_576 } as const;
/** Token bucket per organization for checks of image pull secrets, which send a password to a registry. */
export const pullSecretChecks = { burst: 20, perSecond: 1 / 6 } as const;
export const revisionsPerPage = { default: 20, maximum: 100 } as const;

/** The service sets or removes these environment variables when it starts a bot. */
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

export function reservedSecretKey(key: string): boolean {
  return reservedSecretKeys.has(key) || key.startsWith('BOT_') || key.startsWith('BOTHOST_');
}

/** Returns an error message that names the key, or null if the key is not reserved. */
export function reservedKeyProblem(key: string): string | null {
  if (key === 'PIPECAT_SETUP_FILES')
    return `${key} is reserved: Pipecat runs the Python files that this variable names`;
  return reservedSecretKey(key) ? `${key} is reserved: the service sets or removes this variable` : null;
}

/** Returns false for NUL and for half of a surrogate pair, which an environment variable cannot contain. */
export function canBeInSecretValue(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text);
}
