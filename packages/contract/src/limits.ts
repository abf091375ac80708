/* All limits and patterns that callers can encounter. Durations are in seconds and sizes in bytes, unless the name says otherwise. */

/** Agent and organization names in paths. Length 2 to 54. */
export const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])$/;
export const nameLength = { minimum: 2, maximum: 54 } as const;
/** Names that would be ambiguous in a path. */
export const reservedNames: readonly string[] = ['webhooks', 'sessions', 'public', 'start'];

export const sessionSeconds = { minimum: 60, maximum: 14_400, default: 7_200 } as const;
/** An instance that is not ready this long after a server began its start fails, and its session ends with `BOT_START_TIMEOUT`. */
export const startDeadlineSeconds = 120;
/** Without a ready instance this long after its request, a session ends with `BOT_START_TIMEOUT`, however late its start began. */
export const startWaitSeconds = 300;
/** Lifetime of a WebSocket token. A session without a client by then ends with `BOT_CONNECTION_TIMEOUT`. */
export const socketTokenSeconds = 300;
/** How long a proxied request waits for its instance to become ready before 504. */
export const proxyHoldSeconds = 30;
/** How long a carrier may take to send the message with the agent of a call, and how many bytes it may send before that. */
export const callOpening = { seconds: 10, bytes: 16_384 } as const;
/** How much of a call is buffered while its bot starts: the latest audio, and other messages. */
export const heldCall = { audioSeconds: 2, otherBytes: 65_536 } as const;
/** Size of one message of a carrier; real ones are a few kilobytes. */
export const carrierMessageBytes = 1_048_576;
/** A warm instance above `min_agents` is stopped after this time. */
export const warmSurplusSeconds = 300;
/** `Retry-After` of 429 and 503. */
export const retryAfterSeconds = 5;

/** Bodies of start requests. With the transport websocket, the body becomes part of a URL. */
export const startBodyBytes = { default: 1_048_576, websocket: 4_096 } as const;
/** Bodies of all other private operations. */
export const requestBodyBytes = 1_048_576;
/** Bodies with a Content-Length through the session proxy. */
export const proxyBodyBytes = 64 * 1_048_576;

export const agentInstances = { minimum: 0, maximum: 50, defaultMinimum: 0, defaultMaximum: 50 } as const;

export const profiles = {
  'agent-1x': { cpuMillicores: 500, memoryBytes: 1_073_741_824 },
  'agent-2x': { cpuMillicores: 1_000, memoryBytes: 2_147_483_648 },
  'agent-3x': { cpuMillicores: 1_500, memoryBytes: 3_221_225_472 },
} as const;
export type ProfileName = keyof typeof profiles;
export const defaultProfile: ProfileName = 'agent-1x';

/** Items per page of a list. */
export const pageRows = { default: 10, maximum: 1_000 } as const;
export const apiKeyNameLength = 100;
/** Points in the time series of a session. Longer sessions have larger steps. */
export const seriesPoints = { maximum: 720, stepSeconds: 5 } as const;
/** Lines per page of logs, and how long a request may wait for the first line. */
export const logPage = { default: 10, maximum: 10_000, waitSeconds: 25 } as const;

/** Size of a compressed project archive. */
export const uploadBytes = 500 * 1_048_576;
/** Lifetime of an upload URL. A new URL for the same content resumes the upload. */
export const uploadUrlSeconds = 900;
/** Uploads without a build that an organization may have. */
export const unusedUploads = 100;
/** Limits of an unpacked archive. `ratio` is its size relative to the compressed archive; `depth` counts directories. */
export const unpackedArchive = {
  bytes: 4 * 1_073_741_824,
  ratio: 200,
  entries: 100_000,
  pathBytes: 1_024,
  depth: 64,
} as const;
export const buildPageRows = { default: 20, maximum: 100 } as const;
export const buildLogLines = { default: 500, maximum: 10_000 } as const;
/** How long a request for a build log may wait for the next line. */
export const buildLogWaitSeconds = 30;

/** Names of secret sets and image pull secrets; case-insensitive. */
export const secretSetNamePattern = /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
export const secretKeyPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** One value in UTF-8. Linux allows twice as much in one environment string. */
export const secretValueBytes = 65_536;
/** Keys and values of one set together. */
export const secretSetSize = { bytes: 524_288, keys: 256 } as const;
export const secretSetsPerOrganization = 1_000;
/** Fits the largest set with every byte escaped in JSON, such as `\u0001`. */
export const secretBodyBytes = 4 * 1_048_576;
/** Entries per page of the audit log. */
export const auditPageRows = { default: 50, maximum: 1_000 } as const;
/** Token bucket of an organization for dry runs of secret writes, because a dry run reveals whether a guessed value is right. */
export const secretDryRuns = { burst: 120, perSecond: 1 } as const;
/** Token bucket of an organization for secret writes, rollbacks and deletions, each of which stays in the audit log for a year. */
export const secretWrites = { burst: secretSetsPerOrganization, perSecond: 5 } as const;
/** Secret writes of an organization that may wait for their turn, and the bytes of their values. */
export const waitingSecretWrites = { requests: 256, bytes: 32 * 1_048_576 } as const;
/** Token bucket of an organization for checks of image pull secrets, each of which sends a password to a registry. */
export const pullSecretChecks = { burst: 20, perSecond: 1 / 6 } as const;
/** Revisions per page of a set's history. */
export const secretHistoryRows = { default: 20, maximum: 100 } as const;

/** Environment variables that the service sets or removes when it starts a bot. */
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

/** Whether a secret cannot have this key. */
export function reservedSecretKey(key: string): boolean {
  return reservedSecretKeys.has(key) || key.startsWith('BOT_') || key.startsWith('BOTHOST_');
}

/** Why a key is reserved, as an error message that names the key; null if it is not. */
export function reservedKeyProblem(key: string): string | null {
  if (key === 'PIPECAT_SETUP_FILES') return `${key} is reserved: Pipecat runs the Python files that it names`;
  return reservedSecretKey(key) ? `${key} is reserved: the service sets or removes this variable` : null;
}

/** Whether an environment can carry the text as it is: no NUL, no half of a surrogate pair. */
export function canBeInSecretValue(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text);
}
