import { createApiError } from './errors.ts';
import type { Operation } from './operation.ts';
import type { PhoneCarrier } from './phone-carriers.ts';

export const apiBasePath = '/v1';
export const publicApiBasePath = '/v1/public';
export const operatorBasePath = '/v1/operator';
export const organizationBasePath = '/v1/organizations/{organization}';
/** Path of the OpenAPI document. Not an operation, because it needs no key. The dashboard's docs.html links to it. */
export const openApiPath = '/v1/openapi.json';
/**
 * Bots get ICE servers from this path (docs/bot-contract.md). The query has the id and the secret of the instance. It is not an
 * operation, because it needs no key and no API client uses it.
 */
export const iceServersPath = '/v1/ice-servers';
/**
 * Images of Pipecat Cloud post the events of a session to this path (docs/images.md). The query has the id and the secret of the
 * instance. Not an operation, for the same reason.
 */
export const publishedEventsPath = '/v1/published-events';
/**
 * The service accepts a WebSocket at this path and closes it at once, without a credential, like `/healthz`. It shows whether
 * proxies pass on the upgrade.
 */
export const webSocketProbePath = '/ws/probe';

/**
 * Base path of the URLs that vendors call. The organization, the agent and the name of the webhook follow, and then a secret of the
 * agent if the vendor does not sign its requests.
 */
export const webhookBasePath = '/v1/public/webhooks';

/** Returns the path at which a phone carrier asks what to do with a call of an agent. */
export function createAnswerPath(call: {
  readonly organization: string;
  readonly agentName: string;
  readonly carrier: PhoneCarrier;
  readonly secret: string | null;
}): string {
  const { organization, agentName, carrier, secret } = call;
  return [webhookBasePath, organization, agentName, carrier, ...(secret === null ? [] : [secret])].join('/');
}

/** Base path of the dashboard pages on which people talk to an agent. The agent's name follows. */
export const talkPageBasePath = '/talk';

/** Returns the path of the dashboard page on which people talk to an agent. */
export function createTalkPagePath(agentName: string): string {
  return `${talkPageBasePath}/${encodeURIComponent(agentName)}`;
}

/**
 * Returns the first part of the path of an agent's WebSocket. The second part is `/{agentName}.{organization}`. `carrier` is null
 * for clients other than telephone carriers.
 */
export function getWebSocketBasePath(carrier: PhoneCarrier | null): string {
  return `/ws/${carrier ?? 'generic'}`;
}

/** The cookie of a browser session. Over HTTPS, its name has the prefix `__Secure-`. */
export const sessionCookieName = 'bothost.session_token';

/** Lists the paths of an operation. If there are two paths, clients that name no organization use the first one. */
export function listOperationPaths(operation: Pick<Operation, 'key' | 'path'>): readonly string[] {
  switch (operation.key) {
    case 'public':
      return [publicApiBasePath + operation.path];
    case 'operator':
      return [operatorBasePath + operation.path];
    case 'account':
    case 'person':
    case 'none':
      return [apiBasePath + operation.path];
    case 'member':
    case 'organization':
      return [organizationBasePath + operation.path];
    case 'private':
      return [apiBasePath + operation.path, organizationBasePath + operation.path];
  }
}

/**
 * Replaces the placeholders of a path with percent-encoded values. Throws a failure with status 404 if a value is empty, `.` or
 * `..`, because URL parsers would turn the path into the path of another operation.
 */
export function fillPathTemplate(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    if (['', '.', '..'].includes(value)) {
      throw createApiError(name === 'organization' ? 'organization-not-found' : 'not-found');
    }
    return encodeURIComponent(value);
  });
}

/** Returns the path at which Daily announces phone calls for an agent. */
export function createDialinPath(organization: string, agentName: string): string {
  return `${publicApiBasePath}/webhooks/${organization}/${agentName}/dialin`;
}
