import { ApiError, ConnectionError } from '@bothost/contract';
import { describeLocalFailure, type FailureDescription } from '../output/failure-description.ts';
import { responseTimeoutSeconds } from './connection.ts';
import type { Settings } from './settings.ts';

/** What the command line names: an agent, whether a session, and a region. */
export type CommandSubject = {
  readonly agent: string | null;
  readonly hasSession: boolean;
  readonly region: string | null;
};

/** Describes a failure of a request; null for any other error. */
export function describeServiceFailure(
  error: unknown,
  settings: Settings | null,
  subject: CommandSubject,
): FailureDescription | null {
  if (error instanceof ApiError) {
    return {
      code: error.code,
      reason: error.reason,
      message: unknownRegion(error, subject) ?? error.message,
      requestId: error.requestId,
      issues: error.issues,
      hint: hintFor(error, settings, subject),
      details: null,
    };
  }
  if (isTimeout(error)) return describeTimeout(settings);
  if (error instanceof ConnectionError)
    return { ...describeLocalFailure('connection', error.message), hint: connectionHint(error, settings) };
  return null;
}

function hintFor(error: ApiError, settings: Settings | null, { agent, hasSession }: CommandSubject): string | null {
  if (error.status === 401) {
    const origin = settings?.origin.value ?? '';
    const refusal = `The service at ${origin} does not accept this key. Log in with another one: botcli cloud auth login`;
    return isLoopback(origin) ? `${refusal}. If its keys are lost, create one: botcli operator keys create` : refusal;
  }
  if (error.reason === 'organization-not-found' && settings?.organization) {
    return `The organization "${settings.organization.value}" comes from ${settings.organization.source}.`;
  }
  if (error.reason === 'not-found') {
    const sessions =
      agent !== null && hasSession ? `; the sessions of ${agent} with: botcli cloud agent sessions ${agent}` : '';
    return `List the agents with: botcli cloud agent list${sessions}`;
  }
  if (error.reason === 'deployment-not-ready' && agent !== null) {
    return `See why with: botcli cloud agent status ${agent}`;
  }
  return hintByReason[error.reason] ?? null;
}

/** Hints for errors that need no other information. */
const hintByReason: Readonly<Record<string, string>> = {
  'region-unknown': 'List the regions with: botcli cloud regions list',
  'secret-set-not-found': 'List them with: botcli cloud secrets list --no-sets',
  'secret-revision-not-found': 'List them with: botcli cloud secrets history NAME',
  'secret-set-changed': 'It was changed in the meantime. Run the command again to see the current differences.',
  'secret-set-not-ready': 'See why with: botcli cloud secrets list',
  'secret-set-in-use': 'Delete it anyway with --force.',
};

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(origin).hostname);
}

/** The service's message does not name the region. */
function unknownRegion({ reason }: ApiError, { region }: CommandSubject): string | null {
  return reason === 'region-unknown' && region !== null ? `Region "${region}" does not exist.` : null;
}

function connectionHint(error: ConnectionError, settings: Settings | null): string | null {
  if (settings === null) return null;
  const { value, source } = settings.origin;
  const code = networkCode(error);
  const problem = code === 'ECONNREFUSED' ? 'Nothing is listening there' : `The URL is ${value}`;
  return (
    `${problem}${code === null || code === 'ECONNREFUSED' ? '' : ` (${code})`}; it comes from ${source}. ` +
    'Start a service with `npm start`, or set another URL with --api-url or BOTCLI_API_URL.'
  );
}

/** The timeout can fire while connecting, which the client wraps in a `ConnectionError`, or while the response is read. */
function isTimeout(error: unknown): boolean {
  const cause = error instanceof ConnectionError ? error.cause : error;
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}

function describeTimeout(settings: Settings | null): FailureDescription {
  const message = `No response from ${settings?.origin.value ?? 'the service'} within ${responseTimeoutSeconds} seconds.`;
  return { ...describeLocalFailure('timeout', message), hint: 'Set another URL with --api-url or BOTCLI_API_URL.' };
}

/** The system's error code of a failed connection; fetch wraps it once or, with several addresses, twice. */
export function networkCode(error: ConnectionError): string | null {
  let cause: unknown = error.cause;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause.cause;
  }
  return null;
}
