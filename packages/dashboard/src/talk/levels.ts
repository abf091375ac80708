/** Returns the loudness of 16-bit PCM samples: 0 for -60 dB or less, 1 for -12 dB or more. Speech lies between these limits. */
export function measureLoudness(pcm: ArrayBuffer | Int16Array): number {
  const samples = pcm instanceof Int16Array ? pcm : new Int16Array(pcm, 0, Math.floor(pcm.byteLength / 2));
  if (samples.length === 0) return 0;
  let sum = 0;
  for (const sample of samples) sum += (sample / 32_768) ** 2;
  const decibels = 10 * Math.log10(sum / samples.length);
  const quietest = -60;
  const loudest = -12;
  return Math.min(1, Math.max(0, (decibels - quietest) / (loudest - quietest)));
}

/** Holds the latest loudness of a voice. Audio callbacks update it, and a meter reads it for every animation frame. */
export type LoudnessTracker = {
  readonly update: (pcm: ArrayBuffer | Int16Array) => void;
  /** The current loudness; falls to 0 within half a second of silence. */
  readonly read: () => number;
};

/** Creates a meter for the loudness of one voice. `now` returns the time of a monotonic clock in milliseconds. */
export function createLoudnessTracker(now: () => number): LoudnessTracker {
  const fadeMs = 500;
  let latest = 0;
  let at = 0;
  const read = () => Math.max(0, latest - (now() - at) / fadeMs);
  return {
    update: (pcm) => {
      latest = Math.max(measureLoudness(pcm), read());
      at = now();
    },
    read,
  };
}
