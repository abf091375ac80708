import protobuf from 'protobufjs/light.js';

/**
 * Pipecat's WebSocket frames: one protobuf message `pipecat.Frame` per binary WebSocket message, with one of these
 * fields set. Audio is PCM, 16 bits, little endian.
 */
const Frame = protobuf.Root.fromJSON({
  nested: {
    TextFrame: { fields: { text: { type: 'string', id: 3 } } },
    AudioRawFrame: {
      fields: {
        name: { type: 'string', id: 2 },
        audio: { type: 'bytes', id: 3 },
        sampleRate: { type: 'uint32', id: 4 },
        numChannels: { type: 'uint32', id: 5 },
      },
    },
    MessageFrame: { fields: { data: { type: 'string', id: 1 } } },
    InterruptionFrame: { fields: {} },
    Frame: {
      oneofs: { frame: { oneof: ['text', 'audio', 'message', 'interruption'] } },
      fields: {
        text: { type: 'TextFrame', id: 1 },
        audio: { type: 'AudioRawFrame', id: 2 },
        message: { type: 'MessageFrame', id: 4 },
        interruption: { type: 'InterruptionFrame', id: 5 },
      },
    },
  },
}).lookupType('Frame');

/** A decoded frame. `samples` is the first audio channel, and `data` is JSON text. */
export type InboundFrame =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'audio'; readonly samples: Int16Array; readonly sampleRate: number }
  | { readonly kind: 'message'; readonly data: string };

/** Decodes a frame. Returns undefined for a kind of frame that the parrot does not use. Throws if the bytes are invalid. */
export function decodeFrame(bytes: Uint8Array): InboundFrame | undefined {
  const frame = Frame.toObject(Frame.decode(bytes), { defaults: true, oneofs: true }) as WireFrame;
  if (frame.text) return { kind: 'text', text: frame.text.text };
  if (frame.message) return { kind: 'message', data: frame.message.data };
  if (!frame.audio) return undefined;
  const { audio, sampleRate, numChannels } = frame.audio;
  return { kind: 'audio', samples: firstChannel(audio, Math.max(1, numChannels)), sampleRate };
}

export function encodeAudio(samples: Int16Array, sampleRate: number): Uint8Array {
  const audio = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  return encode({ audio: { name: 'parrot', audio, sampleRate, numChannels: 1 } });
}

export function encodeMessage(data: string): Uint8Array {
  return encode({ message: { data } });
}

/**
 * Encodes a frame that asks the client to drop unplayed audio. Pipecat's web client does not support this
 * frame and plays on.
 */
export function encodeInterruption(): Uint8Array {
  return encode({ interruption: {} });
}

type WireFrame = {
  readonly text?: { readonly text: string } | null;
  readonly audio?: { readonly audio: Uint8Array; readonly sampleRate: number; readonly numChannels: number } | null;
  readonly message?: { readonly data: string } | null;
};

function encode(frame: object): Uint8Array {
  return Frame.encode(Frame.create(frame)).finish();
}

function firstChannel(bytes: Uint8Array, channels: number): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = new Int16Array(Math.floor(bytes.byteLength / 2 / channels));
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(i * channels * 2, true);
  return samples;
}
