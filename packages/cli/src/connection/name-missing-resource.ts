import { type ApiClient, ApiError, apiErrorDefinitions, type ErrorReason } from '@bothost/contract';

type Values = Readonly<Record<string, unknown>>;
type Request = { readonly params?: object; readonly query?: object; readonly body?: unknown };
type Call = (input?: Request, signal?: AbortSignal) => Promise<unknown>;

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
  const sentence = (texts: TemplateStringsArray, ...fields: readonly string[]) =>
    fields.some((field) => values[field] === undefined)
      ? null
      : String.raw(texts, ...fields.map((field) => JSON.stringify(values[field])));
  const sentences: Partial<Record<ErrorReason, string | null>> = {
    'not-found':
      values['sessionId'] === undefined
        ? sentence`Agent ${'agentName'} does not exist.`
        : operation === 'stopSession' || operation === 'admitParticipant'
          ? sentence`Agent ${'agentName'} has no live session ${'sessionId'}.`
          : sentence`Agent ${'agentName'} has no session ${'sessionId'}.`,
    'deployment-not-found': sentence`Agent ${'agentName'} has no deployment ${'deploymentId'}.`,
    'secret-set-not-found': sentence`Secret set ${'setName'} does not exist.`,
    'secret-not-found': sentence`Secret set ${'setName'} does not have all of the given keys.`,
    'secret-revision-not-found': sentence`Secret set ${'setName'} has no revision ${'revision'}.`,
    'organization-not-found': sentence`Organization ${'organization'} does not exist.`,
    'key-not-found': sentence`API key ${'keyId'} does not exist.`,
    'user-not-found': sentence`No account has the e-mail address ${'email'}.`,
    'member-not-found': sentence`${'userId'} is not a member of the organization.`,
    'build-not-found': sentence`Build ${'buildId'} does not exist.`,
    'alert-not-found': sentence`Agent ${'agentName'} has no alert ${'alertId'}.`,
    'webhook-not-found': sentence`Webhook ${'webhookId'} does not exist.`,
    'webhook-delivery-not-found': sentence`Webhook ${'webhookId'} has no delivery of the event ${'eventId'}.`,
    'upload-not-found': sentence`Upload ${'uploadId'} does not exist.`,
  };
  return sentences[reason] ?? null;
}
