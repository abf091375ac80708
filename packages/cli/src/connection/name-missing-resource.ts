import { type ApiClient, ApiError, apiErrorDefinitions, type ErrorReason } from '@bothost/contract';

type Values = Readonly<Record<string, unknown>>;
type Request = { readonly params?: object; readonly query?: object; readonly body?: unknown };
type Call = (input?: Request, signal?: AbortSignal) => Promise<unknown>;
type MissingResource = readonly [message: string, hint?: string];

const field = /\{(\w+)\}/g;
/** By the reason of the 404. A `{field}` of a message stands for a value of the request. */
export const missingResources: Readonly<Record<string, MissingResource>> = {
  'not-found': ['Agent {agentName} does not exist.', 'To list the agents, run: botcli cloud agent list'],
  'deployment-not-found': ['Agent {agentName} has no deployment {deploymentId}.'],
  'secret-set-not-found': [
    'Secret set {setName} does not exist.',
    'To list the existing sets, run: botcli cloud secrets list --no-sets',
  ],
  'secret-not-found': ['Secret set {setName} does not have all of the given keys.'],
  'secret-revision-not-found': [
    'Secret set {setName} has no revision {revision}.',
    'To list the revisions, run: botcli cloud secrets history NAME',
  ],
  'organization-not-found': ['Organization {organization} does not exist.'],
  'key-not-found': ['API key {keyId} does not exist.', 'To list the keys, run: botcli cloud keys list'],
  'user-not-found': ['No account has the e-mail address {email}.'],
  'member-not-found': ['{userId} is not a member of the organization.'],
  'build-not-found': ['Build {buildId} does not exist.', 'To list the builds, run: botcli cloud build list'],
  'alert-not-found': ['Agent {agentName} has no alert {alertId}.', 'To list the alerts, run: botcli cloud alerts list'],
  'webhook-not-found': ['Webhook {webhookId} does not exist.', 'To list the webhooks, run: botcli cloud webhooks list'],
  'webhook-delivery-not-found': ['Webhook {webhookId} has no delivery of the event {eventId}.'],
  'upload-not-found': ['Upload {uploadId} does not exist.'],
} satisfies Partial<Record<ErrorReason, MissingResource>>;

/**
 * Returns a client whose 404 errors name the missing resource, because the messages of the service are general, such as "Secret
 * set not found.". A message that the service wrote for the request is kept.
 */
export function nameMissingResources(client: ApiClient, organization: string | undefined): ApiClient {
  const entries = Object.entries(client as Readonly<Record<string, Call>>).map(([operation, call]) => {
    const named: Call = async (input = {}, signal) => {
      try {
        return await call(input, signal);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        throw nameResource(error, operation, { organization, ...toObject(input.body), ...input.params });
      }
    };
    return [operation, named];
  });
  return Object.fromEntries(entries);
}

function toObject(body: unknown): object {
  return typeof body === 'object' && body !== null ? body : {};
}

function nameResource(error: ApiError, operation: string, values: Values): ApiError {
  const reason = error.reason as ErrorReason;
  if (error.status !== 404 || error.message !== apiErrorDefinitions[reason]?.message) return error;
  const message = describeMissingResource(reason, operation, values);
  if (message === null) return error;
  const { status, code, issues, requestId } = error;
  return new ApiError({ reason, status, code, message, issues, requestId, cause: error });
}

/** Returns null if the request does not contain the name of the missing resource. */
function describeMissingResource(reason: ErrorReason, operation: string, values: Values): string | null {
  const session = operation === 'stopSession' || operation === 'admitParticipant' ? 'live session' : 'session';
  const template =
    reason === 'not-found' && values['sessionId'] !== undefined
      ? `Agent {agentName} has no ${session} {sessionId}.`
      : (missingResources[reason]?.[0] ?? '');
  const isNamed = [...template.matchAll(field)].every(([, name = '']) => values[name] !== undefined);
  return template === '' || !isNamed
    ? null
    : template.replace(field, (_, name: string) => JSON.stringify(values[name]));
}
