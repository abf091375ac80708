import { randomUUID } from 'node:crypto';
import type { JsonObject } from './http-exchange.ts';

/** Version of the RTVI protocol. */
const protocolVersion = '2.1.0';

/** A message of RTVI, the protocol between a voice bot and its client. Sent as JSON in a message frame. */
export interface RtviMessage {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
}

/** Parses a message. Undefined if it is not one. */
export function parseRtvi(json: string): RtviMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  const message = asObject(value);
  if (message['label'] !== 'rtvi-ai' || typeof message['type'] !== 'string') return undefined;
  return { id: String(message['id'] ?? ''), type: message['type'], data: asObject(message['data']) };
}

export function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function rtvi(type: string, data: JsonObject = {}, id: string = randomUUID()): string {
  return JSON.stringify({ label: 'rtvi-ai', type, id, data });
}

/**
 * The response to `client-ready`. It has the client's version if that is 1, since such a client warns about others; the
 * messages of the parrot are the same in both.
 */
export function botReady(clientReady: RtviMessage): string {
  const theirs = String(clientReady.data['version'] ?? '');
  const version = theirs.startsWith('1.') ? theirs : protocolVersion;
  return rtvi('bot-ready', { version, about: { library: 'bothost-parrot' } }, clientReady.id);
}

/** The messages of one line of text, for clients that show text while it grows and for others. */
export function botLine(text: string): readonly string[] {
  return [
    rtvi('bot-llm-started'),
    rtvi('bot-llm-text', { text }),
    rtvi('bot-llm-stopped'),
    // The audio contains chirps and echoes, never these words.
    rtvi('bot-output', { text, aggregated_by: 'sentence', spoken: false, will_be_spoken: false }),
    rtvi('bot-transcription', { text }),
  ];
}
