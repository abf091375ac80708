import { z } from 'zod';
import { maxUploadBytes } from './limits.ts';

/**
 * The message of every failure that a caller can see, by its HTTP status and its stable `reason`. Messages contain no square
 * brackets, because an existing client interprets them as markup.
 */
const messages = {
  400: {
    'invalid-request': 'The request is not valid.',
    'organization-missing':
      'Without an API key, the path must name your organization. Use /v1/organizations/ORGANIZATION/...',
    'password-too-weak':
      'This password is easy to guess: it is common, repetitive, or consists of your e-mail address. Choose another password.',
    'sign-in-needs-tls':
      'Signing in from another machine needs HTTPS. Set up TLS with a reverse proxy, and set BOTHOST_PUBLIC_URL or BOTHOST_TRUSTED_PROXIES.',
    'authorization-needs-tls':
      'This login needs HTTPS. Use the address of the service that begins with https, or log in with "pipecat cloud auth use-pat" and a personal access token.',
    'openid-unavailable':
      'No OpenID Connect provider is configured, or it cannot be reached. Sign in with a password, or try again.',
    'openid-failed':
      'Signing in with OpenID Connect failed. Start again. If it fails again, ask the operator of the service.',
    // Error codes of device logins (RFC 8628, section 3.5). Clients read the code from the field `error`, so the message is the
    // code.
    'authorization-pending': 'authorization_pending',
    'slow-down': 'slow_down',
    'device-code-expired': 'expired_token',
    'device-login-denied': 'access_denied',
    'device-code-invalid': 'invalid_grant',
    // Error code of OAuth 2.0 (RFC 6749, section 5.2). Clients read it from the field `error`, so the message is the code.
    'authorization-code-invalid': 'invalid_grant',
    'invalid-json': 'The request body is not valid JSON.',
    'not-http': 'The request is not valid HTTP.',
    'body-not-object': 'The body for the bot must be a JSON object.',
    'body-needs-token':
      'A WebSocket session cannot be started with a body, because this agent accepts WebSocket clients without a token.',
    'level-needs-token':
      'A WebSocket session cannot be started with a lower conversation level, because this agent accepts WebSocket clients without a token.',
    'rooms-not-connected':
      'The organization has no key of this provider of rooms. Connect it with "botcli cloud rooms connect daily".',
    'rooms-refused': 'The provider of rooms refused the settings of the room or of the token. Change them.',
    'rooms-key-invalid': 'The provider of rooms does not accept this key. Copy it again from the page of the provider.',
    'livekit-not-configured':
      'This service has no LiveKit server. Its operator sets BOTHOST_LIVEKIT_URL, BOTHOST_LIVEKIT_API_KEY and BOTHOST_LIVEKIT_API_SECRET.',
    'region-unknown': 'The region does not exist.',
    'upload-form-invalid':
      'The upload must be multipart/form-data: first the fields in uploadFields, then the archive as "file".',
    'upload-content-wrong': 'The uploaded file is not the announced archive and was discarded. Upload it again.',
    'not-supported': 'The region of this agent does not support this setting.',
    'not-offered': 'This service does not offer this operation.',
    'build-not-usable': 'The build does not exist in the region of this agent, or it did not succeed.',
    'agent-exists': 'An agent with this name already exists.',
    'secret-set-kind': 'A secret set cannot become an image pull secret, or vice versa. Use another name.',
    'secret-set-region': 'The region of a secret set cannot change.',
    'secret-set-elsewhere':
      'The secret set and the agent are in different regions. Create a secret set in the region of the agent.',
    'secret-set-has-no-keys':
      'This is an image pull secret, which has no keys. The list of secret sets shows its registry and status.',
    'secret-set-no-registry': 'This is a secret set, which has no registry. Use the name of an image pull secret.',
    'secret-set-too-large': 'The secret set would exceed the maximum size of a set.',
    'secret-sets-too-many':
      'The organization has reached its maximum number of secret sets. Delete a set, or add the keys to another set.',
    'deployment-not-ready': 'The agent has no ready deployment.',
  },
  401: {
    'key-missing': 'The request has no API key. Send one as "Authorization: Bearer KEY".',
    'key-invalid': 'The API key or token is unknown, revoked, expired or of the wrong kind.',
    'session-expired': 'You are not signed in, or your session has ended. Sign in again.',
    'sign-in-failed': 'The e-mail address or the password is wrong.',
  },
  403: {
    forbidden:
      'This credential or your role in the organization does not allow this request. Ask an owner of the organization.',
    'cross-site-request':
      'A page on another site sent this request, or a reverse proxy changed the Host header of the request. Add such a proxy to BOTHOST_TRUSTED_PROXIES.',
    'dialin-refused':
      'The announcement of a call is not signed correctly, or the address is not that of an agent. Get the address with "botcli cloud rooms dialin AGENT".',
    'token-invalid': 'The WebSocket token is missing, wrong, expired or already used.',
    'call-refused': 'The call was refused. The log of the agent shows the reason.',
    'upload-token-invalid': 'The token of this upload is missing, wrong or expired. Request a new upload URL.',
  },
  404: {
    'not-found': 'Agent or session not found.',
    'deployment-not-found': 'Deployment not found for this agent.',
    'deployment-files-unavailable':
      'The service cannot list the files of this deployment: it runs an image or a directory of the service, its build was removed or is in another region, or the project is larger than 64 MiB packed, 256 MiB unpacked or 5,000 files.',
    'deployment-file-not-found': 'The deployment has no file with this path.',
    'secret-set-not-found': 'Secret set not found.',
    'secret-not-found': 'Key not found in this secret set.',
    'secret-revision-not-found': 'Revision not found for this secret set.',
    'endpoint-not-found': 'Endpoint not found.',
    'organization-not-found': 'Organization not found.',
    'key-not-found': 'API key not found.',
    'link-invalid': 'The link is wrong, expired or already used. Ask for a new link.',
    'user-not-found': 'No account has this e-mail address.',
    'member-not-found': 'Member not found in this organization.',
    'invitation-not-found': 'Invitation not found.',
    'personal-token-not-found': 'Personal access token not found.',
    'device-login-not-found': 'This code is wrong, expired or already used. Start the login on the device again.',
    'recording-not-found':
      'This session has no recording. Only sessions with the level recording have one, for a limited time.',
    'rooms-not-found': 'The organization has no key of this provider of rooms.',
    'build-not-found': 'Build not found.',
    'carrier-not-found': 'No credential of this phone carrier is stored.',
    'upload-not-found': 'Upload not found.',
    'alert-not-found': 'The agent has no alert with this id.',
    'webhook-not-found': 'Webhook not found.',
    'webhook-delivery-not-found': 'The webhook has no delivery with this event id.',
  },
  405: {
    'method-not-allowed': 'This path does not support this HTTP method.',
  },
  408: {
    'request-too-slow': 'The request did not arrive in time.',
  },
  409: {
    'call-repeated': 'This call was answered before. Each call is answered only once.',
    'build-ended': 'The build has already ended, so it cannot be canceled.',
    'not-in-livekit-room':
      'This session is not in a room of LiveKit. Further people join sessions that were started with the transport livekit.',
    'call-started': 'This call already has a session.',
    'rooms-open':
      'Rooms of sessions still exist, and the key is needed to delete them. Wait for the end of the sessions, or force the deletion.',
    'session-running':
      'The session is still running, or its log is being stored. Stop it, and try again a few seconds after its end.',
    'email-taken': 'An account with this e-mail address exists. Sign in to it.',
    'organization-name-taken': 'Another organization has this name.',
    'organizations-too-many':
      'You own the maximum number of organizations. Delete one, or ask the operator of the service.',
    'organization-not-empty':
      'The organization still has agents, secret sets, or keys of phone carriers or providers of rooms. Delete them first.',
    'last-organization': 'The only organization of a service cannot be deleted.',
    'last-owner': 'An organization needs an owner, and this is the only one. Make another member an owner first.',
    'invitations-too-many': 'The organization has too many open invitations. Revoke some.',
    'personal-tokens-too-many': 'You have too many personal access tokens. Revoke some.',
    'no-earlier-deployment': 'No other deployment of this agent was ever active, so there is nothing to roll back to.',
    'deployment-unavailable': 'The files of this deployment are no longer stored. Deploy its project again.',
    'secret-set-changed': 'The secret set is not at the expected revision. Read it again.',
    'secret-set-not-ready': 'The secret set is not ready. Check its status.',
    'secret-set-in-use': 'Agents use the secret set. Remove the set from these agents, or force the deletion.',
    'secret-set-damaged':
      'The stored secret is damaged or was changed outside the service. Store it again, and inform the operator.',
    'vault-busy': 'This maintenance task of the vault is already running. Check the status of the vault.',
    'root-key-not-given':
      'No new root key is configured. Add the new key before the current one in BOTHOST_VAULT_KEYS, restart the service, and try again.',
    'root-key-not-shared':
      'Other servers share this database, but a new key file would exist only on this server. Set BOTHOST_VAULT_KEYS on every server, and try again.',
    'nothing-to-stop': 'The agent has no session with this id, so no session was stopped.',
    'session-ended': 'The session has ended.',
    'alerts-too-many': 'The agent has reached its maximum number of alerts. Delete one.',
    'webhooks-too-many': 'The organization has reached its maximum number of webhooks. Delete one.',
    'webhook-disabled': 'The webhook is disabled. Enable it first.',
    'upload-incomplete': 'The archive has not been uploaded completely.',
    'upload-offset-wrong':
      'Upload-Offset does not match the received bytes. Send HEAD to get the offset, and continue from there.',
    'upload-not-resumable': 'Only an upload whose contentHash and sizeBytes were announced can be sent in parts.',
  },
  413: {
    'archive-too-large': `The archive is larger than ${maxUploadBytes / 1_048_576} MiB.`,
    'body-too-large': 'The request body is too large.',
  },
  416: {
    'range-not-satisfiable': 'The range begins behind the end of the recording. The header Content-Range has its size.',
  },
  417: {
    'expectation-unsupported': 'The only expectation that this service supports is "Expect: 100-continue".',
  },
  421: {
    'session-elsewhere': 'Another server runs this session. Send the request to the server of its region.',
  },
  426: {
    'upgrade-required': 'This path only accepts WebSocket connections.',
  },
  429: {
    'too-many-attempts': 'Too many attempts. Try again in a few minutes.',
    'too-many-uploads': 'The organization has too many uploads without a build. Build the uploads, or try again later.',
    'too-many-dry-runs': 'The organization has made too many dry runs of secret changes. Try again shortly.',
    'too-many-secret-writes':
      'The organization is writing too many secrets at once. Nothing was changed. Try again shortly.',
    'too-many-checks': 'The organization has checked registries too often. Try again shortly.',
    'too-many-events': 'The instance sends too many events.',
    'at-capacity': 'The agent is at its session limit. Try again shortly.',
  },
  431: {
    'headers-too-large': 'The headers of the request are too large.',
  },
  500: {
    internal: 'The service failed. Search its log for the request id, or ask its operator.',
  },
  501: {
    'method-not-implemented': 'The service does not implement this HTTP method.',
  },
  502: {
    'bot-unreachable': 'The bot of this session cannot be reached.',
    'bot-refused': 'The bot did not accept the WebSocket.',
    'rooms-key-refused':
      'The provider of rooms no longer accepts the key of the organization. Connect a new one with "botcli cloud rooms connect daily".',
    'rooms-unavailable': 'The provider of rooms cannot be reached, or its response is not valid. Try again shortly.',
  },
  503: {
    'database-unavailable': 'The database is unavailable or too busy at the moment. Try again.',
    'secrets-unavailable': 'The secrets of the agent cannot be decrypted. The status of the agent shows the reason.',
    'vault-unavailable':
      'The secrets cannot be decrypted at the moment, but none are lost. The operator must check the root keys.',
    'rooms-busy':
      'The provider of rooms accepts no more requests of the organization at the moment. Try again shortly.',
    'shutting-down': 'The service is shutting down and does not start sessions.',
  },
  504: {
    'bot-not-ready': 'The bot did not become ready in time.',
    'rooms-timeout': 'The provider of rooms did not respond in time. Try again shortly.',
  },
  507: {
    'storage-full': 'The service has too little free disk space. Its operator must free some.',
    'organization-storage-full':
      'The organization would exceed its limit of disk space. Delete agents, wait until unused builds are removed, or ask the operator for a higher limit.',
  },
} as const;

type MessagesByStatus = typeof messages;
export type ErrorReason = {
  [Status in keyof MessagesByStatus]: keyof MessagesByStatus[Status];
}[keyof MessagesByStatus];

/** Codes of failures that concern a deployment. The code of any other failure is its status. */
const codes: { readonly [Reason in ErrorReason]?: string } = {
  'deployment-not-ready': 'PCC-1001',
  'at-capacity': 'PCC-AGENT-AT-CAPACITY',
  'secrets-unavailable': 'PCC-SECRETS-UNAVAILABLE',
};

type ApiErrorDefinition = { readonly status: number; readonly code: string; readonly message: string };

export const apiErrorDefinitions = Object.fromEntries(
  Object.entries(messages).flatMap(([status, byReason]) =>
    Object.entries(byReason).map(([reason, message]) => [
      reason,
      { status: Number(status), code: codes[reason as ErrorReason] ?? status, message },
    ]),
  ),
) as Readonly<Record<ErrorReason, ApiErrorDefinition>>;

/** A problem with the input. `path` is the field, for example `body.name`. */
export type ValidationIssue = { readonly path: string; readonly message: string };

export const ErrorResponse = z
  .object({
    error: z.string().describe('What went wrong, for people'),
    code: z.string().describe('The HTTP status as a string, or a PCC- code'),
    reason: z.string().optional().describe('A stable identifier for programs'),
    requestId: z.string().optional().describe('Identifies the request in the log of the service'),
    info: z.string().optional().describe('Equal to error: existing web clients display this field'),
    message: z.string().optional().describe('Equal to error, on 429'),
    status: z.number().int().optional().describe('The HTTP status, on 429'),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'ErrorResponse' });
export type ErrorResponse = z.infer<typeof ErrorResponse>;

/**
 * A failure that callers may see. The server throws an ApiError, and the client throws an ApiError with the same fields for the
 * error response.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: string;
  readonly status: number;
  readonly code: string;
  readonly issues: readonly ValidationIssue[];
  readonly requestId: string | null;

  constructor(failure: {
    reason: string;
    status: number;
    code: string;
    message: string;
    issues?: readonly ValidationIssue[];
    requestId?: string | null;
    cause?: unknown;
  }) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.reason = failure.reason;
    this.status = failure.status;
    this.code = failure.code;
    this.issues = failure.issues ?? [];
    this.requestId = failure.requestId ?? null;
  }
}

/**
 * Creates an error from the entry of `apiErrorDefinitions` with this reason. If `message` is given, it replaces the message of the
 * entry.
 *
 * @example throw createApiError('not-found')
 */
export function createApiError(
  reason: ErrorReason,
  more: { message?: string; issues?: readonly ValidationIssue[]; cause?: unknown } = {},
): ApiError {
  return new ApiError({ reason, ...apiErrorDefinitions[reason], ...more });
}

/** Creates an error for one field of a request, such as `body.region`. */
export function createFieldError(path: string, message: string, reason: ErrorReason = 'invalid-request'): ApiError {
  return createApiError(reason, { message, issues: [{ path, message }] });
}

/** Creates the body of an error response. With status 429 it has two more fields, which existing clients read. */
export function createErrorBody(error: ApiError, requestId: string): ErrorResponse {
  return {
    error: error.message,
    code: error.code,
    reason: error.reason,
    requestId,
    info: error.message,
    ...(error.status === 429 ? { message: error.message, status: error.status } : {}),
    ...(error.issues.length > 0 ? { issues: error.issues.map((issue) => ({ ...issue })) } : {}),
  };
}
