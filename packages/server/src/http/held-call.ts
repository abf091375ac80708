import { type Carrier, heldCall } from '@bothost/contract';
import type { RawData } from 'ws';

type Message = { readonly data: Buffer; readonly isBinary: boolean; readonly audioBytes: number };

/** The messages of a call that wait for its bot. */
export type HeldCall = {
  /** False if the limit is exceeded. */
  readonly add: (data: RawData, isBinary: boolean) => boolean;
  /** Unchanged, in order of arrival. */
  readonly messages: () => readonly Message[];
};

/** Bytes per second of audio: 8000 samples of one byte each; Exotel sends 16-bit PCM. */
const audioRates: Record<Carrier, number> = { twilio: 8_000, telnyx: 8_000, plivo: 8_000, exotel: 16_000 };

/** Base64 in JSON takes little more than twice the size of a carrier's audio. A larger message is not audio. */
const wireBytesPerAudioByte = 8;

/** Memory overhead of a message, so that empty ones count. */
const messageBytes = 64;

/** Keeps the latest audio and all other messages: a bot identifies its call by the first ones. */
export function createHeldCall(carrier: Carrier): HeldCall {
  const most = heldCall.audioSeconds * audioRates[carrier];
  const held: Message[] = [];
  let audioBytes = 0;
  let audioWireBytes = 0;
  let otherBytes = 0;

  function dropOldestAudio() {
    const index = held.findIndex((message) => message.audioBytes > 0);
    const [dropped] = held.splice(index, 1);
    audioBytes -= dropped?.audioBytes ?? 0;
    audioWireBytes -= dropped?.data.length ?? 0;
  }

  return {
    add: (data, isBinary) => {
      const message = { data: copyOf(data), isBinary, audioBytes: isBinary ? 0 : audioBytesOf(data) };
      held.push(message);
      if (message.audioBytes === 0) {
        otherBytes += messageBytes + message.data.length;
        return otherBytes <= heldCall.otherBytes;
      }
      audioBytes += message.audioBytes;
      audioWireBytes += message.data.length;
      while (audioBytes > most || audioWireBytes > most * wireBytesPerAudioByte) dropOldestAudio();
      return true;
    },
    messages: () => held,
  };
}

/** The fields of a carrier's message; an empty object for what is none. */
export function fieldsOf(data: RawData): Readonly<Record<string, unknown>> {
  try {
    return asFields(JSON.parse(String(data)));
  } catch {
    return {};
  }
}

export function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** `{"event": "media", "media": {"payload": <base64>}}`, with all four carriers. */
function audioBytesOf(data: RawData): number {
  const fields = fieldsOf(data);
  const { payload } = asFields(fields['media']);
  return fields['event'] === 'media' && typeof payload === 'string' ? Buffer.byteLength(payload, 'base64') : 0;
}

/** A socket returns slices of larger buffers, which would stay in memory. */
function copyOf(data: RawData): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(new Uint8Array(data).buffer);
}
