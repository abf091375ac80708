import { createApiError, JsonText, maxStartBodyBytes, type Operations, type RequestOf } from '@bothost/contract';
import type { SessionTransport } from '../store/tables.ts';

export type StartRequest = NonNullable<RequestOf<Operations['startSession']>['body']>;

/**
 * Returns the transport of a start, and the unchanged text of its field `body`, which is null if there is none.
 *
 * @throws failure `body-not-object`, `body-too-large`
 */
export function parseStartRequest(request: StartRequest): {
  readonly transport: SessionTransport;
  readonly body: string | null;
} {
  const transport = parseTransport(request);
  return { transport, body: parseBody(request, transport) };
}

/** With `createDailyRoom: false`, the caller has made a room at Daily itself, and names it in the body. */
function parseTransport({ transport, createDailyRoom }: StartRequest): SessionTransport {
  if (transport === 'daily' && createDailyRoom === false) return 'none';
  return transport ?? (createDailyRoom === true ? 'daily' : 'none');
}

function parseBody({ body }: StartRequest, transport: SessionTransport): string | null {
  if (body === undefined) return null;
  if (!(body instanceof JsonText)) throw new TypeError('The operation does not declare the field "body" as verbatim.');
  const { text } = body;
  if (text === 'null') return null;
  if (!text.startsWith('{')) throw createApiError('body-not-object');
  const limit = maxStartBodyBytes.websocket;
  if (transport === 'websocket' && Buffer.byteLength(text) > limit) {
    const message = `The body for the bot is too large. With the transport "websocket", the limit is ${limit} bytes.`;
    throw createApiError('body-too-large', { message });
  }
  return text;
}
