import { randomUUID } from 'node:crypto';
import type { JsonObject } from './http-exchange.ts';

const protocolVersion = '2.1.0';

/** A message of RTVI, the protocol between a voice bot and its client. It is sent as JSON in a message frame. */
export type RtviMessage = {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
};

/** Parses a message. Returns undefined if the text is not an RTVI message. */
export function parseRtvi(json: string): RtviMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  const message = toJsonObject(value);
  if (message['label'] !== 'rtvi-ai' || typeof message['type'] !== 'string') return undefined;
  return { id: String(message['id'] ?? ''), type: message['type'], data: toJsonObject(message['data']) };
}

export function toJsonObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

export function createRtviMessage(type: string, data: JsonObject = {}, id: string = randomUUID()): string {
  return JSON.stringify({ label: 'rtvi-ai', type, id, data });
}

/**
 * Creates the response to `client-ready`. A client of RTVI version 1 warns about other versions, so it gets its own version back.
 * This is safe, because the parrot sends the same messages in all versions.
 */
export function createBotReadyMessage(clientReady: RtviMessage): string {
  const theirs = String(clientReady.data['version'] ?? '');
  const version = theirs.startsWith('1.') ? theirs : protocolVersion;
  return createRtviMessage('bot-ready', { version, about: { library: 'bothost-parrot' } }, clientReady.id);
}

/**
 * Returns the RTVI messages for one line of the bot's text. Some clients show partial text, others only complete text; each kind
 * needs its own messages.
 */
export function createBotTextMessages(text: string): readonly string[] {
  return [
    createRtviMessage('bot-llm-started'),
    createRtviMessage('bot-llm-text', { text }),
    createRtviMessage('bot-llm-stopped'),
    // Set `spoken` to false, because the bot's audio consists of chirps or echoes and never of the words in `text`.
    createRtviMessage('bot-output', { text, aggregated_by: 'sentence', spoken: false, will_be_spoken: false }),
    createRtviMessage('bot-transcription', { text }),
  ];
}
