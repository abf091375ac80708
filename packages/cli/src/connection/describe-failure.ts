import { ApiError, ConnectionError } from '@bothost/contract';
import { ProxyConnectionError } from '../io/proxy-connection-error.ts';
import { describeLocalFailure, type FailureDescription } from '../output/failure-description.ts';
import { organizationSelectionHint, responseTimeoutSeconds } from './connection.ts';
import { missingResources } from './name-missing-resource.ts';
import type { Settings } from './settings.ts';

export type ResourcesNamedInCommand = {
  readonly agent: string | null;
  readonly hasSession: boolean;
  readonly region: string | null;
};

/** Describes the error of a failed request. Returns null for an error that no request caused. */
export function describeServiceFailure(
  error: unknown,
  settings: Settings | null,
  subject: ResourcesNamedInCommand,
): FailureDescription | null {
  if (error instanceof ApiError) {
    return {
      code: error.code,
      reason: error.reason,
      message: unknownRegion(error, subject) ?? error.message,
      requestId: error.requestId,
      issues: error.issues,
      hint: findHint(error, settings, subject),
      details: null,
    };
  }
  if (isTimeout(error)) return describeTimeout(settings);
  if (error instanceof ConnectionError)
    return { ...describeLocalFailure('connection', error.message), hint: connectionHint(error, settings) };
  return null;
}

function findHint(
  error: ApiError,
  settings: Settings | null,
  { agent, hasSession }: ResourcesNamedInCommand,
): string | null {
  if (error.status === 401) {
    const origin = settings?.origin.value ?? '';
    const refusal = `The service at ${origin} does not accept this key. Log in again: botcli cloud auth login`;
    return isLoopback(origin) ? `${refusal}. If its keys are lost, create one: botcli operator keys create` : refusal;
  }
  if (error.reason === 'organization-not-found' && settings?.organization) {
    return `The organization "${settings.organization.value}" comes from ${settings.organization.source}.`;
  }
  if (error.reason === 'not-found' && agent !== null && hasSession) {
    return `To list the sessions of ${agent}, run: botcli cloud agent sessions ${agent}`;
  }
  if (error.reason === 'deployment-not-ready' && agent !== null) {
    return `To see the reason, run: botcli cloud agent status ${agent}`;
  }
  return missingResources[error.reason]?.[1] ?? hintByReason[error.reason] ?? null;
}

const hintByReason: Readonly<Record<string, string>> = {
  'organization-missing': organizationSelectionHint,
  'region-unknown': 'To list the regions, run: botcli cloud regions list',
  'webhook-disabled': 'To enable it, run: botcli cloud webhooks update ID --enabled',
  'secret-set-changed': 'Someone else changed the secret set. Run the command again to see the current differences.',
  'secret-set-not-ready': 'To see the reason, run: botcli cloud secrets list',
  'secret-set-in-use': 'Pass --force to delete the secret set anyway.',
};

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(origin).hostname);
}

/** Returns a message that names the unknown region, because the service's message does not name it. */
function unknownRegion({ reason }: ApiError, { region }: ResourcesNamedInCommand): string | null {
  return reason === 'region-unknown' && region !== null ? `Region "${region}" does not exist.` : null;
}

function connectionHint(error: ConnectionError, settings: Settings | null): string | null {
  if (settings === null) return null;
  const { value, source } = settings.origin;
  const code = findNetworkErrorCode(error);
  const problem =
    code === 'ECONNREFUSED'
      ? 'No program is listening at this URL.'
      : `The connection to ${value} failed${code === null ? '' : ` (${code})`}.`;
  if (error.cause instanceof ProxyConnectionError) {
    return (
      `The request went through the proxy ${error.cause.proxy}${code === null ? '' : ` (${code})`}. ` +
      'It comes from HTTP_PROXY or HTTPS_PROXY. To reach the service without it, add its host to NO_PROXY.'
    );
  }
  return (
    `${problem} The URL comes from ${source}. ` +
    'Start a service with `npm start`, or set another URL with --api-url or BOTCLI_API_URL.'
  );
}

/**
 * Returns whether the request timed out. The client wraps a timeout during connecting in a `ConnectionError`, but not a timeout
 * while the response is read.
 */
function isTimeout(error: unknown): boolean {
  const cause = error instanceof ConnectionError ? error.cause : error;
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}

function describeTimeout(settings: Settings | null): FailureDescription {
  const message = `No response from ${settings?.origin.value ?? 'the service'} within ${responseTimeoutSeconds} seconds.`;
  return { ...describeLocalFailure('timeout', message), hint: 'Set another URL with --api-url or BOTCLI_API_URL.' };
}

/**
 * Returns the system's error code, such as ECONNREFUSED, of a failed connection. `fetch` wraps the system error once or, if the
 * host has several IP addresses, twice.
 */
export function findNetworkErrorCode(error: Error): string | null {
  let cause: unknown = error.cause;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
    if ('code' in cause && typeof cause.code === 'string') return cause.code;
    cause = cause.cause;
  }
  return null;
}
