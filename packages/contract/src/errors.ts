import { z } from 'zod';
import { uploadBytes } from './limits.ts';

/** One row of the table of failures. `code` is the HTTP status as a string, or a `PCC-` code (spec 2.5). */
type Failure = { readonly status: number; readonly code: string; readonly message: string };

/**
 * Every failure that a caller can see, by its stable word (`reason`). The server maps onto this table and adds nothing.
 * Messages hold no square brackets: an existing client reads them as markup (decisions, "text of messages").
 */
export const failures = {
  'key-missing': { status: 401, code: '401', message: 'Send an API key: Authorization: Bearer <key>.' },
  'key-invalid': { status: 401, code: '401', message: 'This API key is not valid here.' },
  'invalid-request': { status: 400, code: '400', message: 'The request is not valid.' },
  'invalid-json': { status: 400, code: '400', message: 'The request body is not valid JSON.' },
  'not-http': { status: 400, code: '400', message: 'This could not be read as an HTTP request.' },
  'body-not-object': { status: 400, code: '400', message: 'The body for the bot must be a JSON object.' },
  'body-needs-token': {
    status: 400,
    code: '400',
    message: 'This agent takes WebSocket clients without a token, so a start request cannot carry a body for it.',
  },
  'hosted-rooms-unavailable': {
    status: 400,
    code: '400',
    message: 'This service has no hosted rooms yet. Use the transport websocket or webrtc, or a plain start.',
  },
  'region-unknown': { status: 400, code: '400', message: 'There is no such region.' },
  'upload-form-invalid': {
    status: 400,
    code: '400',
    message: 'The upload must be multipart/form-data: the given fields first, then the archive as "file".',
  },
  'upload-content-wrong': {
    status: 400,
    code: '400',
    message: 'The uploaded file is not the announced archive and was discarded. Upload it again.',
  },
  'not-supported': {
    status: 400,
    code: '400',
    message: 'The region of this agent does not support that: its runtime only runs builds.',
  },
  'build-not-usable': {
    status: 400,
    code: '400',
    message: 'There is no such build in the region of this agent, or it did not succeed.',
  },
  'agent-exists': { status: 400, code: '400', message: 'An agent with this name already exists.' },
  'secret-set-kind': {
    status: 400,
    code: '400',
    message: 'A secret set cannot become an image pull secret, nor the other way round. Use another name.',
  },
  'secret-set-region': { status: 400, code: '400', message: 'The region of a secret set cannot change.' },
  'secret-set-elsewhere': {
    status: 400,
    code: '400',
    message: 'The secret set is in another region than the agent. Set it in the region of the agent.',
  },
  'secret-set-has-no-keys': {
    status: 400,
    code: '400',
    message: 'This is an image pull secret, so it has no keys to show. The list shows its registry and state.',
  },
  'secret-set-no-registry': {
    status: 400,
    code: '400',
    message: 'This is a secret set, so it has no registry to ask. Name an image pull secret.',
  },
  'secret-set-too-large': {
    status: 400,
    code: '400',
    message: 'The secret set would be larger than the limit for a set.',
  },
  'secret-sets-too-many': {
    status: 400,
    code: '400',
    message: 'The organization has reached its limit of secret sets. Delete one, or put the keys into another.',
  },
  'deployment-not-ready': { status: 400, code: 'PCC-1001', message: 'The agent has no ready deployment.' },
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
  'not-found': { status: 404, code: '404', message: 'Not found: no such agent or session.' },
  'deployment-not-found': { status: 404, code: '404', message: 'Not found: no such deployment of this agent.' },
  'secret-set-not-found': { status: 404, code: '404', message: 'Not found: no such secret set.' },
  'secret-not-found': { status: 404, code: '404', message: 'Not found: no such key in this secret set.' },
  'secret-revision-not-found': { status: 404, code: '404', message: 'Not found: no such revision of this secret set.' },
  'endpoint-not-found': { status: 404, code: '404', message: 'Not found: no such endpoint.' },
  'organization-not-found': { status: 404, code: '404', message: 'Not found: no such organization.' },
  'key-not-found': { status: 404, code: '404', message: 'Not found: no such API key.' },
  'build-not-found': { status: 404, code: '404', message: 'Not found: no such build.' },
  'upload-not-found': { status: 404, code: '404', message: 'Not found: no such upload.' },
  'method-not-allowed': { status: 405, code: '405', message: 'This path does not support that method.' },
  'request-too-slow': { status: 408, code: '408', message: 'The request did not arrive in time.' },
  'build-ended': { status: 409, code: '409', message: 'The build has already ended, so it cannot be canceled.' },
  'no-earlier-deployment': {
    status: 409,
    code: '409',
    message: 'No other deployment of this agent has served before, so there is nothing to roll back to.',
  },
  'deployment-gone': {
    status: 409,
    code: '409',
    message: 'What this deployment ran is no longer stored. Deploy its project again.',
  },
  'secret-set-changed': {
    status: 409,
    code: '409',
    message: 'The secret set is not at the expected revision. Look at it again.',
  },
  'secret-set-not-ready': {
    status: 409,
    code: '409',
    message: 'The secret set is not ready. Wait until it is, or look at why it failed.',
  },
  'secret-set-in-use': { status: 409, code: '409', message: 'Agents use the secret set.' },
  'secret-set-damaged': {
    status: 409,
    code: '409',
    message:
      'What is stored of this secret set does not match what was written, so it is not used. Delete it and set it again, and inform the operator.',
  },
  'vault-busy': {
    status: 409,
    code: '409',
    message: 'This work on the vault is already running. Look at its progress.',
  },
  'root-key-not-given': {
    status: 409,
    code: '409',
    message:
      'No new root key was given to rotate to. Put the new one first in BOTHOST_VAULT_KEYS, keep the former one after it, restart the service, and try again.',
  },
  'root-key-not-shared': {
    status: 409,
    code: '409',
    message:
      'Other servers share this database, and a new key file would be on this one only. Give every server the new key with BOTHOST_VAULT_KEYS, and try again.',
  },
  'session-ended': { status: 409, code: '409', message: 'The session has ended.' },
  'upload-incomplete': { status: 409, code: '409', message: 'The archive has not been uploaded completely.' },
  'upload-offset-wrong': {
    status: 409,
    code: '409',
    message: 'Upload-Offset does not match what was received. Ask with HEAD, and continue from there.',
  },
  'upload-not-resumable': {
    status: 409,
    code: '409',
    message: 'Only an upload whose contentHash and sizeBytes were announced can be sent in parts.',
  },
  'archive-too-large': {
    status: 413,
    code: '413',
    message: `The archive is larger than ${uploadBytes / 1_048_576} MiB, or than announced.`,
  },
  'body-too-large': { status: 413, code: '413', message: 'The request body is too large.' },
  'upgrade-required': { status: 426, code: '426', message: 'This path only accepts WebSocket connections.' },
  'headers-too-large': { status: 431, code: '431', message: 'The headers of the request are too large.' },
  'too-many-uploads': {
    status: 429,
    code: '429',
    message: 'The organization has too many uploads that were never built. Build them, or try again later.',
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
    message: 'Something went wrong in the service. Look for the request id in its log, or ask its operator.',
  },
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
    message: 'The secrets that the agent starts with cannot be opened. The status of the agent says why.',
  },
  'vault-unavailable': {
    status: 503,
    code: '503',
    message: 'The secrets cannot be opened at the moment, but none are lost. The operator has to check the root keys.',
  },
  'shutting-down': { status: 503, code: '503', message: 'The service is shutting down and takes no new sessions.' },
  'storage-full': {
    status: 507,
    code: '507',
    message: 'The service has no disk space left. Its operator has to free some.',
  },
  'bot-not-ready': { status: 504, code: '504', message: 'The bot did not become ready in time.' },
} as const satisfies Record<string, Failure>;

export type Reason = keyof typeof failures;

/** One thing that is wrong with the input; `path` names the field, as in `body.name`. */
export type Issue = { readonly path: string; readonly message: string };

/** The error object of every failure (spec 2.5; decisions, "error object"). */
export const ErrorResponse = z
  .object({
    error: z.string().describe('What went wrong, for people'),
    code: z.string().describe('The HTTP status as a string, or a PCC- code'),
    reason: z.string().optional().describe('A stable word for programs'),
    requestId: z.string().optional().describe('Find the request by it in the service log'),
    info: z.string().optional().describe('Equal to error: existing web clients display this field'),
    message: z.string().optional().describe('Equal to error, on 429'),
    status: z.number().int().optional().describe('The HTTP status, on 429'),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'ErrorResponse' });
export type ErrorResponse = z.infer<typeof ErrorResponse>;

/** A failure that a caller may see. Verbs of the server throw it; the client throws it again on the other side. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: string;
  readonly status: number;
  readonly code: string;
  readonly issues: readonly Issue[];
  readonly requestId: string | null;

  constructor(failure: {
    reason: string;
    status: number;
    code: string;
    message: string;
    issues?: readonly Issue[];
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
 * A row of the table as something to throw. `message` replaces the row's sentence where a more exact one helps.
 *
 * @example throw failure('not-found')
 */
export function failure(
  reason: Reason,
  more: { message?: string; issues?: readonly Issue[]; cause?: unknown } = {},
): ApiError {
  return new ApiError({ reason, ...failures[reason], ...more });
}

/** The body that a failure is sent with. */
export function errorBody(error: ApiError, requestId: string): ErrorResponse {
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
