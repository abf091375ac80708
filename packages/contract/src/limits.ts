/**
 * Every number and pattern that a caller can run into, said once (spec section 8, decisions "REST" and "Running the
 * service"). Durations are seconds unless the name says otherwise, sizes are bytes.
 */

/** Agent and organization names in paths. Length 2 to 54. */
export const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])$/;
export const nameLength = { minimum: 2, maximum: 54 } as const;
/** Words that would be ambiguous in a path (decisions, "ids and names"). */
export const reservedNames: readonly string[] = ['webhooks', 'sessions', 'public', 'start'];

export const sessionSeconds = { minimum: 60, maximum: 14_400, default: 7_200 } as const;
/** Without a ready instance after this time a session ends with `BOT_START_TIMEOUT`. */
export const startDeadlineSeconds = 120;
/** Life of a WebSocket token; a session whose client has not come by then ends with `BOT_CONNECTION_TIMEOUT`. */
export const socketTokenSeconds = 300;
/** How long a proxied request waits for its instance to become ready before 504 (bot contract 2.12). */
export const proxyHoldSeconds = 30;
/** What a carrier may take to send the message that names the agent of a call (bot contract 4.4); bytes on the wire. */
export const callOpening = { seconds: 10, bytes: 16_384 } as const;
/** What is kept of a call while its bot starts: the latest audio, and whatever else it says up to so many bytes. */
export const heldCall = { audioSeconds: 2, otherBytes: 65_536 } as const;
/** One message of a carrier; theirs are a few kilobytes. */
export const carrierMessageBytes = 1_048_576;
/** A warm instance above `min_agents` is stopped after this time. */
export const warmSurplusSeconds = 300;
/** What a caller at capacity is told to wait (`Retry-After`). */
export const retryAfterSeconds = 5;

/** Bodies of start requests: with a WebSocket the body travels in a URL (cloud API 7.1). */
export const startBodyBytes = { default: 1_048_576, websocket: 4_096 } as const;
/** Bodies of all other private operations. */
export const requestBodyBytes = 1_048_576;
/** Sized bodies through the session proxy; uploads of bots are limited to 50 MiB (bot contract 2.14), with room for framing. */
export const proxyBodyBytes = 64 * 1_048_576;

export const agentInstances = { minimum: 0, maximum: 50, defaultMinimum: 0, defaultMaximum: 50 } as const;

/** CPU in millicores, memory in bytes (decisions, "profiles"). */
export const profiles = {
  'agent-1x': { cpuMillicores: 500, memoryBytes: 1_073_741_824 },
  'agent-2x': { cpuMillicores: 1_000, memoryBytes: 2_147_483_648 },
  'agent-3x': { cpuMillicores: 1_500, memoryBytes: 3_221_225_472 },
} as const;
export type ProfileName = keyof typeof profiles;
export const defaultProfile: ProfileName = 'agent-1x';

/** Lists: rows of one page. */
export const pageRows = { default: 10, maximum: 1_000 } as const;
export const apiKeyNameLength = 100;
/** Points of a session's series; a longer session gets coarser steps. */
export const seriesPoints = { maximum: 720, stepSeconds: 5 } as const;
/** Lines of one page of logs, and how long a request may wait for the first one. */
export const logPage = { default: 10, maximum: 10_000, waitSeconds: 25 } as const;

/** Archives of projects, packed (cloud API 15). */
export const uploadBytes = 500 * 1_048_576;
/** Life of an upload URL; asked again for the same content, the upload goes on where it was. */
export const uploadUrlSeconds = 900;
/** Uploads that an organization may have of which no build has come. */
export const unusedUploads = 100;
/** What an unpacked archive may be: bytes of all files, times the packed size, entries, bytes of a path, folders deep. */
export const unpackedArchive = {
  bytes: 4 * 1_073_741_824,
  ratio: 200,
  entries: 100_000,
  pathBytes: 1_024,
  depth: 64,
} as const;
/** Lists of builds, and lines of their logs, in one answer (cloud API 5.6). */
export const buildPageRows = { default: 20, maximum: 100 } as const;
export const buildLogLines = { default: 500, maximum: 10_000 } as const;
/** How long a reader of a build's log may wait for the next line. */
export const buildLogWaitSeconds = 30;

/** Names of secret sets and image pull secrets; the same in other case is the same name (spec 2.6, decisions "Secrets"). */
export const secretSetNamePattern = /^[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
export const secretKeyPattern = /^[A-Za-z0-9_-]{1,64}$/;
/** One value, in UTF-8: half of what Linux takes as one string of an environment. */
export const secretValueBytes = 65_536;
/** Keys with their values, of one set. */
export const secretSetSize = { bytes: 524_288, keys: 256 } as const;
export const secretSetsPerOrganization = 1_000;
/** A body that writes the largest set there may be, with every byte escaped in JSON as `\u0001`. */
export const secretBodyBytes = 4 * 1_048_576;
/** Entries of one answer of the audit log. */
export const auditPageRows = { default: 50, maximum: 1_000 } as const;
/**
 * Dry runs of writes of secrets that an organization may do: so many at once, and then so many a second. They tell whether a
 * guessed value is the right one (secrets reference, 8.2).
 */
export const secretDryRuns = { atOnce: 120, perSecond: 1 } as const;
/**
 * Writes of secrets of an organization, likewise: rollbacks and deletions, too. Each of its sets can be written once without a
 * pause. Each write stays in the audit log for a year.
 */
export const secretWrites = { atOnce: secretSetsPerOrganization, perSecond: 5 } as const;
/** Writes of secrets of an organization that are done one after the other: so many may wait, with so many bytes of values. */
export const waitingSecretWrites = { requests: 256, bytes: 32 * 1_048_576 } as const;
/** Checks of image pull secrets of an organization, likewise: each makes the service ask a registry, with a password. */
export const pullSecretChecks = { atOnce: 20, perSecond: 1 / 6 } as const;
/** Revisions of one answer of a set's history. */
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
