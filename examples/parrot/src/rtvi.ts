import { randomUUID } from 'node:crypto';
import type { JsonObject } from './http-exchange.ts';

/** The version of the RTVI protocol that the parrot speaks. */
const protocolVersion = '2.1.0';

/** A message of RTVI, the protocol between a voice bot and its client; it travels as JSON in a message frame. */
export interface RtviMessage {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
}

/** Reads a message; undefined when it is none. */
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
 * Answers `client-ready`. A client of protocol 1 is answered in its own version, since it warns about any other; the
 * messages that the parrot sends are the same in both.
 */
export function botReady(clientReady: RtviMessage): string {
  const theirs = String(clientReady.data['version'] ?? '');
  const version = theirs.startsWith('1.') ? theirs : protocolVersion;
  return rtvi('bot-ready', { version, about: { library: 'bothost-parrot' } }, clientReady.id);
}

/** The messages of one line that the bot writes, for clients that follow the text as it grows and for those that do not. */
export function botLine(text: string): readonly string[] {
  return [
    rtvi('bot-llm-started'),
    rtvi('bot-llm-text', { text }),
    rtvi('bot-llm-stopped'),
    // What is spoken is chirps and echoes, never these words.
    rtvi('bot-output', { text, aggregated_by: 'sentence', spoken: false, will_be_spoken: false }),
    rtvi('bot-transcription', { text }),
  ];
}
