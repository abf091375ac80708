import type { Carrier } from './carriers.ts';
import { failure } from './errors.ts';
import type { Operation } from './operation.ts';

export const apiBase = '/v1';
export const publicBase = '/v1/public';
export const operatorBase = '/v1/operator';
export const organizationBase = '/v1/organizations/{organization}';
/**
 * Bots get ICE servers from this path (docs/bot-contract.md). It is not an operation, because it needs no key and no API
 * client uses it.
 */
export const iceServersPath = '/v1/ice-servers';
/** Pages of the dashboard on which people talk to an agent, followed by its name. */
export const talkBase = '/talk';

export function talkPath(agentName: string): string {
  return `${talkBase}/${encodeURIComponent(agentName)}`;
}

/**
 * Returns the path of agents' WebSockets without its end, `/{agentName}.{organization}`. `carrier` is null for clients that are
 * not a telephone carrier.
 */
export function socketPath(carrier: Carrier | null): string {
  return `/ws/${carrier ?? 'generic'}`;
}

/** The cookie of a browser session. Over HTTPS, its name has the prefix `__Secure-`. */
export const sessionCookie = 'bothost.session_token';

/** Lists the paths of an operation. If there are two, the first one is for clients without an organization. */
export function pathsOf(operation: Pick<Operation, 'key' | 'path'>): readonly string[] {
  switch (operation.key) {
    case 'public':
      return [publicBase + operation.path];
    case 'operator':
      return [operatorBase + operation.path];
    case 'account':
    case 'person':
    case 'none':
      return [apiBase + operation.path];
    case 'member':
    case 'organization':
      return [organizationBase + operation.path];
    case 'private':
      return [apiBase + operation.path, organizationBase + operation.path];
  }
}

/**
 * Replaces the placeholders of a path with percent-encoded values. Throws 404 for an empty value, `.` and `..`, because URLs
 * would resolve these to the path of another operation.
 */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    if (['', '.', '..'].includes(value)) {
      throw failure(name === 'organization' ? 'organization-not-found' : 'not-found');
    }
    return encodeURIComponent(value);
  });
}
