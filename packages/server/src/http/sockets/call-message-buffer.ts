import { carrierMessageBufferLimits, getObjectFields, type PhoneCarrier } from '@bothost/contract';
import type { RawData } from 'ws';

type Message = { readonly data: Buffer; readonly isBinary: boolean; readonly audioBytes: number };

/** Holds the messages of a phone call until its bot is connected. */
export type PhoneCallMessageBuffer = {
  /** Adds a message. Returns false if the messages without audio exceed the size limit. */
  readonly add: (data: RawData, isBinary: boolean) => boolean;
  /** The held messages, unchanged and in order of arrival. */
  readonly messages: () => readonly Message[];
};

/** Audio bytes per second: 8000 samples of one byte, or of two bytes for Exotel, which sends 16-bit PCM. */
const audioRates: Record<PhoneCarrier, number> = { twilio: 8_000, telnyx: 8_000, plivo: 8_000, exotel: 16_000 };

/**
 * The held audio messages have two limits: the amount of audio, and this factor times that amount for the size of the whole
 * messages. The factor leaves room for encoding: a carrier's usual audio message (Base64 in JSON) is slightly more than twice
 * as large as its audio.
 */
const wireBytesPerAudioByte = 8;

/** Overhead counted for each held message, so that the size limit also bounds the number of empty messages. */
const messageBytes = 64;

/** Holds the last seconds of audio and all other messages, because a bot identifies the call by the first ones. */
export function createPhoneCallMessageBuffer(carrier: PhoneCarrier): PhoneCallMessageBuffer {
  const most = carrierMessageBufferLimits.audioSeconds * audioRates[carrier];
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
        return otherBytes <= carrierMessageBufferLimits.otherBytes;
      }
      audioBytes += message.audioBytes;
      audioWireBytes += message.data.length;
      while (audioBytes > most || audioWireBytes > most * wireBytesPerAudioByte) dropOldestAudio();
      return true;
    },
    messages: () => held,
  };
}

/** Parses a carrier's message. Returns an empty object if the message is not a JSON object. */
export function parseCarrierMessage(data: RawData): Readonly<Record<string, unknown>> {
  try {
    return getObjectFields(JSON.parse(String(data)));
  } catch {
    return {};
  }
}

/** Number of audio bytes in a message. All four carriers send `{"event": "media", "media": {"payload": <base64>}}`. */
function audioBytesOf(data: RawData): number {
  const fields = parseCarrierMessage(data);
  const { payload } = getObjectFields(fields['media']);
  return fields['event'] === 'media' && typeof payload === 'string' ? Buffer.byteLength(payload, 'base64') : 0;
}

/** Copies a message, because a slice would keep the socket's whole read buffer in memory. */
function copyOf(data: RawData): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(new Uint8Array(data).buffer);
}
