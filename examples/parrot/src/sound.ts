const fullScale = 32_767;

/** Returns the loudness of samples from 0 to 1 (root mean square). */
export function measureLoudness(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length) / fullScale;
}

/** Resamples a sound to another sample rate in hertz, by linear interpolation. */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples;
  const result = new Int16Array(Math.round((samples.length * to) / from));
  for (let i = 0; i < result.length; i++) {
    const position = (i * from) / to;
    const left = Math.floor(position);
    const before = samples[left] ?? 0;
    const after = samples[left + 1] ?? before;
    result[i] = Math.round(before + (after - before) * (position - left));
  }
  return result;
}

export function joinSounds(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Creates one chirp: a whistle that glides from one pitch to another (in hertz), and a pause. */
type Chirp = {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
};

export function createGreetingSound(sampleRate: number): Int16Array {
  return joinSounds(
    [
      { from: 1400, to: 2100, seconds: 0.11 },
      { from: 1600, to: 2400, seconds: 0.11 },
      { from: 1400, to: 2100, seconds: 0.11 },
      { from: 2500, to: 1300, seconds: 0.34 },
    ].map((chirp) => whistle(chirp, sampleRate)),
  );
}

/** Converts text to audio with a chirp for each of the first words. Longer words have a lower pitch. */
export function synthesizeChirps(text: string, sampleRate: number): Int16Array {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return joinSounds(
    words.slice(0, 12).map((word) => {
      const length = Math.min(word.length, 12);
      const pitch = 2400 - length * 90;
      return whistle(
        { from: pitch, to: pitch * (length % 2 === 0 ? 1.3 : 0.75), seconds: 0.06 + length * 0.012 },
        sampleRate,
      );
    }),
  );
}

function whistle({ from, to, seconds }: Chirp, sampleRate: number): Int16Array {
  const pauseSeconds = 0.05;
  const length = Math.round(seconds * sampleRate);
  const samples = new Int16Array(length + Math.round(pauseSeconds * sampleRate));
  let phase = 0;
  for (let i = 0; i < length; i++) {
    const progress = i / length;
    phase += (2 * Math.PI * (from + (to - from) * progress)) / sampleRate;
    // The loudness rises and falls like half a sine wave, because a whistle that begins or ends at full loudness clicks.
    samples[i] = Math.round(Math.sin(Math.PI * progress) * Math.sin(phase) * 0.3 * fullScale);
  }
  return samples;
}
