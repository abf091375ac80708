import { type Carrier, heldCall } from '@bothost/contract';
import type { RawData } from 'ws';

type Message = { readonly data: Buffer; readonly isBinary: boolean; readonly audioBytes: number };

/** What a call says while its bot is not there yet (bot contract 4.4). */
export type HeldCall = {
  /** False: this is more than a call may say by then. */
  readonly add: (data: RawData, isBinary: boolean) => boolean;
  /** In the order in which they came, unchanged. */
  readonly messages: () => readonly Message[];
};

/** Bytes of a second of audio: one for each of 8000 samples, but Exotel's samples are 16-bit PCM (bot contract 4.4). */
const audioRates: Record<Carrier, number> = { twilio: 8_000, telnyx: 8_000, plivo: 8_000, exotel: 16_000 };

/** Base64 in JSON takes little more than twice the audio of a carrier's small pieces. What takes more is no audio. */
const wireBytesPerAudioByte = 8;

/** What a message takes beside its bytes, so that empty ones do not come for nothing. */
const messageBytes = 64;

/** Keeps the latest audio and every other message: a bot knows its call by the first ones. */
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

/** What a socket hands out is a piece of all that was read with it, which would be kept along. */
function copyOf(data: RawData): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(new Uint8Array(data).buffer);
}
