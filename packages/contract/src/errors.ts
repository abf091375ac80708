import { z } from 'zod';
import { maxUploadBytes } from './limits.ts';

/** `code` is the HTTP status as a string, or a code that begins with `PCC-` if the failure concerns a deployment. */
type ApiErrorDefinition = { readonly status: number; readonly code: string; readonly message: string };

/**
 * Every failure that a caller can see, by its stable `reason`. Messages contain no square brackets, because an existing client
 * interprets them as markup.
 */
export const apiErrorDefinitions = {
  'key-missing': {
    status: 401,
    code: '401',
    message: 'The request has no API key. Send one as "Authorization: Bearer KEY".',
  },
  'key-invalid': {
    status: 401,
    code: '401',
    message: 'The API key or token is unknown, revoked, expired or of the wrong kind.',
  },
  'session-expired': {
    status: 401,
    code: '401',
    message: 'You are not signed in, or your session has ended. Sign in again.',
  },
  'sign-in-failed': { status: 401, code: '401', message: 'The e-mail address or the password is wrong.' },
  'invalid-request': { status: 400, code: '400', message: 'The request is not valid.' },
  'organization-missing': {
    status: 400,
    code: '400',
    message: 'Without an API key, the path must name your organization. Use /v1/organizations/ORGANIZATION/...',
  },
  'password-too-weak': {
    status: 400,
    code: '400',
    message:
      'This password is easy to guess: it is common, repetitive, or consists of your e-mail address. Choose another password.',
  },
  'sign-in-needs-tls': {
    status: 400,
    code: '400',
    message:
      'Signing in from another machine needs HTTPS. Set up TLS with a reverse proxy, and set BOTHOST_PUBLIC_URL or BOTHOST_TRUSTED_PROXIES.',
  },
  'authorization-needs-tls': {
    status: 400,
    code: '400',
    message:
      'This login needs HTTPS. Use the address of the service that begins with https, or log in with "pipecat cloud auth use-pat" and a personal access token.',
  },
  'openid-unavailable': {
    status: 400,
    code: '400',
    message:
      'No OpenID Connect provider is configured, or it cannot be reached. Sign in with a password, or try again.',
  },
  'openid-failed': {
    status: 400,
    code: '400',
    message: 'Signing in with OpenID Connect failed. Start again. If it fails again, ask the operator of the service.',
  },
  // Error codes of device logins (RFC 8628, section 3.5). Clients read the code from the field `error`, so the message is the
  // code.
  'authorization-pending': { status: 400, code: '400', message: 'authorization_pending' },
  'slow-down': { status: 400, code: '400', message: 'slow_down' },
  'device-code-expired': { status: 400, code: '400', message: 'expired_token' },
  'device-login-denied': { status: 400, code: '400', message: 'access_denied' },
  'device-code-invalid': { status: 400, code: '400', message: 'invalid_grant' },
  // Error code of OAuth 2.0 (RFC 6749, section 5.2). Clients read it from the field `error`, so the message is the code.
  'authorization-code-invalid': { status: 400, code: '400', message: 'invalid_grant' },
  'invalid-json': { status: 400, code: '400', message: 'The request body is not valid JSON.' },
  'not-http': { status: 400, code: '400', message: 'The request is not valid HTTP.' },
  'body-not-object': { status: 400, code: '400', message: 'The body for the bot must be a JSON object.' },
  'body-needs-token': {
    status: 400,
    code: '400',
    message:
      'A WebSocket session cannot be started with a body, because this agent accepts WebSocket clients without a token.',
  },
  'level-needs-token': {
    status: 400,
    code: '400',
    message:
      'A WebSocket session cannot be started with a lower conversation level, because this agent accepts WebSocket clients without a token.',
  },
  'hosted-rooms-unavailable': {
    status: 400,
    code: '400',
    message:
      'This service has no hosted rooms yet. Use the transport websocket or webrtc, or start without a transport.',
  },
  'region-unknown': { status: 400, code: '400', message: 'The region does not exist.' },
  'upload-form-invalid': {
    status: 400,
    code: '400',
    message: 'The upload must be multipart/form-data: first the fields in uploadFields, then the archive as "file".',
  },
  'upload-content-wrong': {
    status: 400,
    code: '400',
    message: 'The uploaded file is not the announced archive and was discarded. Upload it again.',
  },
  'not-supported': {
    status: 400,
    code: '400',
    message: 'The region of this agent does not support this setting.',
  },
  'not-offered': { status: 400, code: '400', message: 'This service does not offer this operation.' },
  'build-not-usable': {
    status: 400,
    code: '400',
    message: 'The build does not exist in the region of this agent, or it did not succeed.',
  },
  'agent-exists': { status: 400, code: '400', message: 'An agent with this name already exists.' },
  'secret-set-kind': {
    status: 400,
    code: '400',
    message: 'A secret set cannot become an image pull secret, or vice versa. Use another name.',
  },
  'secret-set-region': { status: 400, code: '400', message: 'The region of a secret set cannot change.' },
  'secret-set-elsewhere': {
    status: 400,
    code: '400',
    message: 'The secret set and the agent are in different regions. Create a secret set in the region of the agent.',
  },
  'secret-set-has-no-keys': {
    status: 400,
    code: '400',
    message: 'This is an image pull secret, which has no keys. The list of secret sets shows its registry and status.',
  },
  'secret-set-no-registry': {
    status: 400,
    code: '400',
    message: 'This is a secret set, which has no registry. Use the name of an image pull secret.',
  },
  'secret-set-too-large': {
    status: 400,
    code: '400',
    message: 'The secret set would exceed the maximum size of a set.',
  },
  'secret-sets-too-many': {
    status: 400,
    code: '400',
    message:
      'The organization has reached its maximum number of secret sets. Delete a set, or add the keys to another set.',
  },
  'deployment-not-ready': { status: 400, code: 'PCC-1001', message: 'The agent has no ready deployment.' },
  forbidden: {
    status: 403,
    code: '403',
    message:
      'This credential or your role in the organization does not allow this request. Ask an owner of the organization.',
  },
  'cross-site-request': {
    status: 403,
    code: '403',
    message:
      'A page on another site sent this request, or a reverse proxy changed the Host header of the request. Add such a proxy to BOTHOST_TRUSTED_PROXIES.',
  },
  'token-invalid': {
    status: 403,
    code: '403',
    message: 'The WebSocket token is missing, wrong, expired or already used.',
  },
  'upload-token-invalid': {
    status: 403,
    code: '403',
    message: 'The token of this upload is missing, wrong or expired. Request a new upload URL.',
  },
  'not-found': { status: 404, code: '404', message: 'Agent or session not found.' },
  'deployment-not-found': { status: 404, code: '404', message: 'Deployment not found for this agent.' },
  'secret-set-not-found': { status: 404, code: '404', message: 'Secret set not found.' },
  'secret-not-found': { status: 404, code: '404', message: 'Key not found in this secret set.' },
  'secret-revision-not-found': { status: 404, code: '404', message: 'Revision not found for this secret set.' },
  'endpoint-not-found': { status: 404, code: '404', message: 'Endpoint not found.' },
  'organization-not-found': { status: 404, code: '404', message: 'Organization not found.' },
  'key-not-found': { status: 404, code: '404', message: 'API key not found.' },
  'link-invalid': {
    status: 404,
    code: '404',
    message: 'The link is wrong, expired or already used. Ask for a new link.',
  },
  'user-not-found': { status: 404, code: '404', message: 'No account has this e-mail address.' },
  'member-not-found': { status: 404, code: '404', message: 'Member not found in this organization.' },
  'invitation-not-found': { status: 404, code: '404', message: 'Invitation not found.' },
  'personal-token-not-found': { status: 404, code: '404', message: 'Personal access token not found.' },
  'device-login-not-found': {
    status: 404,
    code: '404',
    message: 'This code is wrong, expired or already used. Start the login on the device again.',
  },
  'build-not-found': { status: 404, code: '404', message: 'Build not found.' },
  'upload-not-found': { status: 404, code: '404', message: 'Upload not found.' },
  'method-not-allowed': { status: 405, code: '405', message: 'This path does not support this HTTP method.' },
  'request-too-slow': { status: 408, code: '408', message: 'The request did not arrive in time.' },
  'build-ended': { status: 409, code: '409', message: 'The build has already ended, so it cannot be canceled.' },
  'session-running': {
    status: 409,
    code: '409',
    message: 'The session is still running, or its log is being stored. Stop it, and try again after its end.',
  },
  'email-taken': { status: 409, code: '409', message: 'An account with this e-mail address exists. Sign in to it.' },
  'organization-name-taken': { status: 409, code: '409', message: 'Another organization has this name.' },
  'organizations-too-many': {
    status: 409,
    code: '409',
    message: 'You own the maximum number of organizations. Delete one, or ask the operator of the service.',
  },
  'organization-not-empty': {
    status: 409,
    code: '409',
    message: 'The organization still has agents or secret sets. Delete them first.',
  },
  'last-organization': { status: 409, code: '409', message: 'The only organization of a service cannot be deleted.' },
  'last-owner': {
    status: 409,
    code: '409',
    message: 'An organization needs an owner, and this is the only one. Make another member an owner first.',
  },
  'invitations-too-many': {
    status: 409,
    code: '409',
    message: 'The organization has too many open invitations. Revoke some.',
  },
  'personal-tokens-too-many': {
    status: 409,
    code: '409',
    message: 'You have too many personal access tokens. Revoke some.',
  },
  'no-earlier-deployment': {
    status: 409,
    code: '409',
    message: 'No other deployment of this agent was ever active, so there is nothing to roll back to.',
  },
  'deployment-unavailable': {
    status: 409,
    code: '409',
    message: 'The files of this deployment are no longer stored. Deploy its project again.',
  },
  'secret-set-changed': {
    status: 409,
    code: '409',
    message: 'The secret set is not at the expected revision. Read it again.',
  },
  'secret-set-not-ready': {
    status: 409,
    code: '409',
    message: 'The secret set is not ready. Check its status.',
  },
  'secret-set-in-use': {
    status: 409,
    code: '409',
    message: 'Agents use the secret set. Remove the set from these agents, or force the deletion.',
  },
  'secret-set-damaged': {
    status: 409,
    code: '409',
    message:
      'The stored secret set is damaged or was changed outside the service. Delete it, set it again, and inform the operator.',
  },
  'vault-busy': {
    status: 409,
    code: '409',
    message: 'This maintenance task of the vault is already running. Check the status of the vault.',
  },
  'root-key-not-given': {
    status: 409,
    code: '409',
    message:
      'No new root key is configured. Add the new key before the current one in BOTHOST_VAULT_KEYS, restart the service, and try again.',
  },
  'root-key-not-shared': {
    status: 409,
    code: '409',
    message:
      'Other servers share this database, but a new key file would exist only on this server. Set BOTHOST_VAULT_KEYS on every server, and try again.',
  },
  'nothing-to-stop': {
    status: 409,
    code: '409',
    message: 'The agent has no session with this id, so no session was stopped.',
  },
  'session-ended': { status: 409, code: '409', message: 'The session has ended.' },
  'upload-incomplete': { status: 409, code: '409', message: 'The archive has not been uploaded completely.' },
  'upload-offset-wrong': {
    status: 409,
    code: '409',
    message: 'Upload-Offset does not match the received bytes. Send HEAD to get the offset, and continue from there.',
  },
  'upload-not-resumable': {
    status: 409,
    code: '409',
    message: 'Only an upload whose contentHash and sizeBytes were announced can be sent in parts.',
  },
  'archive-too-large': {
    status: 413,
    code: '413',
    message: `The archive is larger than ${maxUploadBytes / 1_048_576} MiB.`,
  },
  'body-too-large': { status: 413, code: '413', message: 'The request body is too large.' },
  'expectation-unsupported': {
    status: 417,
    code: '417',
    message: 'The only expectation that this service supports is "Expect: 100-continue".',
  },
  'upgrade-required': { status: 426, code: '426', message: 'This path only accepts WebSocket connections.' },
  'session-elsewhere': {
    status: 421,
    code: '421',
    message: 'Another server runs this session. Send the request to the server of its region.',
  },
  'headers-too-large': { status: 431, code: '431', message: 'The headers of the request are too large.' },
  'too-many-attempts': { status: 429, code: '429', message: 'Too many attempts. Try again in a few minutes.' },
  'too-many-uploads': {
    status: 429,
    code: '429',
    message: 'The organization has too many uploads without a build. Build the uploads, or try again later.',
  },
  'too-many-dry-runs': {
    status: 429,
    code: '429',
    message: 'The organization has made too many dry runs of secret changes. Try again shortly.',
  },
  'too-many-secret-writes': {
    status: 429,
    code: '429',
    message: 'The organization is writing too many secrets at once. Nothing was changed. Try again shortly.',
  },
  'too-many-checks': {
    status: 429,
    code: '429',
    message: 'The organization has checked registries too often. Try again shortly.',
  },
  'at-capacity': {
    status: 429,
    code: 'PCC-AGENT-AT-CAPACITY',
    message: 'The agent is at its session limit. Try again shortly.',
  },
  internal: {
    status: 500,
    code: '500',
    message: 'The service failed. Search its log for the request id, or ask its operator.',
  },
  'method-not-implemented': { status: 501, code: '501', message: 'The service does not implement this HTTP method.' },
  'bot-unreachable': { status: 502, code: '502', message: 'The bot of this session cannot be reached.' },
  'bot-refused': { status: 502, code: '502', message: 'The bot did not accept the WebSocket.' },
  'database-unavailable': {
    status: 503,
    code: '503',
    message: 'The database is unavailable or too busy at the moment. Try again.',
  },
  'secrets-unavailable': {
    status: 503,
    code: 'PCC-SECRETS-UNAVAILABLE',
    message: 'The secrets of the agent cannot be decrypted. The status of the agent shows the reason.',
  },
  'vault-unavailable': {
    status: 503,
    code: '503',
    message: 'The secrets cannot be decrypted at the moment, but none are lost. The operator must check the root keys.',
  },
  'shutting-down': { status: 503, code: '503', message: 'The service is shutting down and does not start sessions.' },
  'storage-full': {
    status: 507,
    code: '507',
    message: 'The service has too little free disk space. Its operator must free some.',
  },
  'organization-storage-full': {
    status: 507,
    code: '507',
    message:
      'The organization would exceed its limit of disk space. Delete agents, wait until unused builds are removed, or ask the operator for a higher limit.',
  },
  'bot-not-ready': { status: 504, code: '504', message: 'The bot did not become ready in time.' },
} as const satisfies Record<string, ApiErrorDefinition>;

export type ErrorReason = keyof typeof apiErrorDefinitions;

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
