/** Sample rate of telephone audio, which has 8000 samples per second of one byte each (ITU-T G.711, mu-law). */
export const phoneSampleRateHz = 8000;

const bias = 132;
const loudest = 32_635;

export function decodeMuLaw(bytes: Uint8Array): Int16Array {
  return Int16Array.from(bytes, (byte) => {
    const code = ~byte;
    const magnitude = ((((code & 0x0f) << 3) + bias) << ((code >> 4) & 7)) - bias;
    return (code & 0x80) === 0 ? magnitude : -magnitude;
  });
}

export function encodeMuLaw(samples: Int16Array): Uint8Array {
  return Uint8Array.from(samples, (sample) => {
    const biased = Math.min(Math.abs(sample), loudest) + bias;
    // The segment (G.711) is the position of the highest set bit, minus 7. The bias makes that position at least 7.
    const segment = 24 - Math.clz32(biased);
    const step = (biased >> (segment + 3)) & 0x0f;
    return ~((sample < 0 ? 0x80 : 0) | (segment << 4) | step);
  });
}
