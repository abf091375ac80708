import { type ApiError, createApiError, createTimeout, replaceBracketsWithParentheses } from '@bothost/contract';
import { z } from 'zod';

/** How Daily's REST API is reached. */
export type DailyConnection = {
  /** Without a trailing slash. */
  readonly apiUrl: string;
  readonly timeoutMs: number;
};

/** A response of Daily that is an error, or no response. `failure` is what the caller of the service sees. */
export class DailyError extends Error {
  override readonly name = 'DailyError';
  readonly failure: ApiError;
  /** The HTTP status of an error that Daily itself sent. Null if the request may have been carried out. */
  readonly refusal: number | null;
  constructor(failure: ApiError, refusal: number | null) {
    super(failure.message, { cause: failure.cause });
    this.failure = failure;
    this.refusal = refusal;
  }
}

const infoCharacters = 300;

/** The body of an error (https://docs.daily.co/reference/rest-api, "Errors"). */
const ErrorBody = z.object({ error: z.string().optional(), info: z.string().optional() });

type DailyRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly signal?: AbortSignal;
};

/**
 * Sends a request to Daily's REST API, and returns the parsed response.
 *
 * @throws DailyError
 */
export async function sendDailyRequest<Response extends z.ZodType>(
  connection: DailyConnection,
  apiKey: string,
  request: DailyRequest,
  schema: Response,
): Promise<z.output<Response>> {
  const { status, text } = await send(connection, apiKey, request);
  const json = parseJson(text);
  if (status >= 400 && status < 500) {
    const { error, info } = ErrorBody.safeParse(json).data ?? {};
    const reason = (info ?? error ?? `HTTP status ${status}`).replaceAll(apiKey, '...').slice(0, infoCharacters);
    throw new DailyError(describeRefusal(status, replaceBracketsWithParentheses(reason)), status);
  }
  const parsed = schema.safeParse(json);
  if (status >= 300 || !parsed.success) {
    const message = `Daily responded with HTTP status ${status} and an unexpected body. Try again shortly, and check BOTHOST_DAILY_API_URL.`;
    throw new DailyError(createApiError('rooms-unavailable', { message }), null);
  }
  return parsed.data;
}

async function send(
  { apiUrl, timeoutMs }: DailyConnection,
  apiKey: string,
  { method, path, body, signal }: DailyRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      redirect: 'manual',
      signal: AbortSignal.any([createTimeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') {
      const message = `Daily did not respond within ${timeoutMs / 1000} seconds. Try again shortly.`;
      throw new DailyError(createApiError('rooms-timeout', { message }), null);
    }
    const message = 'Daily cannot be reached. Try again shortly. The log of the service has the reason.';
    throw new DailyError(createApiError('rooms-unavailable', { message, cause: error }), null);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Daily's statuses: https://docs.daily.co/reference/rest-api, "HTTP status codes" and "Rate limits". */
function describeRefusal(status: number, reason: string): ApiError {
  switch (status) {
    case 401:
      return createApiError('rooms-key-refused', {
        message:
          'Daily no longer accepts the key of this organization. Connect a new one with "botcli cloud rooms connect daily".',
      });
    case 402:
    case 403:
      return createApiError('rooms-refused', {
        message: `Daily does not allow this for your account: ${reason}. Check the plan of your domain at Daily.`,
      });
    case 408:
      return createApiError('rooms-timeout');
    case 429:
      return createApiError('rooms-busy', {
        message: 'Daily accepts no more requests of this organization at the moment. Try again in a few seconds.',
      });
    default:
      return createApiError('rooms-refused', {
        message: `Daily refused the room: ${reason}. Change dailyRoomProperties or dailyMeetingTokenProperties.`,
      });
  }
}
