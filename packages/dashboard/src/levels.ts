/** How loud a piece of 16-bit PCM sounds, 0 to 1; a scale that speech fills, as loudness is heard in steps of ten. */
export function level(pcm: ArrayBuffer | Int16Array): number {
  const samples = pcm instanceof Int16Array ? pcm : new Int16Array(pcm, 0, Math.floor(pcm.byteLength / 2));
  if (samples.length === 0) return 0;
  let sum = 0;
  for (const sample of samples) sum += (sample / 32_768) ** 2;
  const decibels = 10 * Math.log10(sum / samples.length);
  const quietest = -60;
  const loudest = -12;
  return Math.min(1, Math.max(0, (decibels - quietest) / (loudest - quietest)));
}

/** The latest loudness of a voice, written by sound and read by a meter as often as the screen is drawn. */
export interface Level {
  readonly hear: (pcm: ArrayBuffer | Int16Array) => void;
  /** The loudness now: it falls to nothing within half a second of silence. */
  readonly read: () => number;
}

/** @param now milliseconds on a clock that only goes forward */
export function createLevel(now: () => number): Level {
  const fadeMs = 500;
  let latest = 0;
  let at = 0;
  const read = () => Math.max(0, latest - (now() - at) / fadeMs);
  return {
    hear: (pcm) => {
      latest = Math.max(level(pcm), read());
      at = now();
    },
    read,
  };
}
