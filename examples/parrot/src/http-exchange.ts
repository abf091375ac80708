import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** An error for the client, with the HTTP status of the response. */
export class RequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON object from the request body. An empty body counts as `{}`. Throws `RequestError` 413 if the body is larger than
 * `limitBytes`, and 400 if the body is not a JSON object.
 */
export async function readJsonObject(request: IncomingMessage, limitBytes: number): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw new RequestError(413, `The body is larger than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return parseJsonObject(Buffer.concat(chunks).toString('utf8') || '{}');
}

export function parseJsonObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RequestError(400, 'The body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RequestError(400, 'The body must be a JSON object');
  }
  return value as JsonObject;
}

/** Reads a number field of a body. Throws `RequestError` 400 if it is outside `[min, max]`. */
export function readNumberField(body: JsonObject, name: string, { min, max, fallback }: NumberRange): number {
  const value = body[name] ?? fallback;
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw new RequestError(400, `${name} must be a number from ${min} to ${max}`);
  }
  return value;
}

type NumberRange = {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
};

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Rejects a WebSocket upgrade with an HTTP status and an error message. */
export function refuseUpgrade(socket: Duplex, status: number, message: string): void {
  const text = JSON.stringify(createErrorBody(status, message));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** The body of an error response (docs/bot-contract.md, "Status codes"). */
export function createErrorBody(status: number, message: string): { error: string; code: string } {
  return { error: message, code: String(status) };
}
