import { joinSounds, measureLoudness } from './sound.ts';

export type VoiceEvent =
  /** `sinceMs` is the time since the speech began, or ended. */
  | { readonly kind: 'started'; readonly sinceMs: number }
  /** The samples of the speech, with a little silence before and after. */
  | {
      readonly kind: 'stopped';
      readonly sinceMs: number;
      readonly speech: Int16Array;
      readonly sampleRate: number;
    };

/** Detects the beginning and end of speech in a microphone's samples. */
export type VoiceActivityDetector = (samples: Int16Array, sampleRate: number) => readonly VoiceEvent[];

const windowsPerSecond = 50;
const windowMs = 1000 / windowsPerSecond;
/** Audio below this loudness is never speech. */
const leastLoudness = 0.012;
/** Speech is louder than the background noise by at least this factor. */
const aboveNoise = 3;
const windowsToStart = 6;
const windowsToStop = 35;
const windowsBefore = 10;
const windowsAfter = 10;
const longestWindows = 15 * windowsPerSecond;

/**
 * Creates a detector that compares the loudness of the audio with the background noise. Speech begins after 120 ms above the
 * noise, and ends after 700 ms of quiet or after 15 s. Time is counted in samples, so that late audio and bursts give the same
 * result.
 */
export function createVoiceActivityDetector(): VoiceActivityDetector {
  let rest = new Int16Array();
  let noise = 0;
  let speaking = false;
  let run = 0;
  let heard: Int16Array[] = [];

  function hearWindow(window: Int16Array, sampleRate: number): VoiceEvent | undefined {
    const level = measureLoudness(window);
    const loud = level > Math.max(leastLoudness, noise * aboveNoise);
    heard.push(window);
    if (!speaking) {
      run = loud ? run + 1 : 0;
      if (!loud) noise += (level - noise) * 0.05;
      if (run < windowsToStart) {
        heard = heard.slice(1 - windowsBefore - windowsToStart);
        return undefined;
      }
      speaking = true;
      run = 0;
      return { kind: 'started', sinceMs: windowsToStart * windowMs };
    }
    run = loud ? 0 : run + 1;
    const endless = heard.length >= longestWindows;
    if (run < windowsToStop && !endless) return undefined;
    // A sound that reaches the maximum length of speech counts as background noise.
    if (endless) noise = level;
    const speech = joinSounds(heard.slice(0, heard.length - Math.max(0, run - windowsAfter)));
    const sinceMs = run * windowMs;
    speaking = false;
    run = 0;
    heard = [];
    return { kind: 'stopped', sinceMs, speech, sampleRate };
  }

  return (samples, sampleRate) => {
    const size = Math.max(1, Math.round(sampleRate / windowsPerSecond));
    const events: VoiceEvent[] = [];
    let pending = joinSounds([rest, samples]);
    while (pending.length >= size) {
      const event = hearWindow(pending.slice(0, size), sampleRate);
      if (event !== undefined) events.push(event);
      pending = pending.subarray(size);
    }
    rest = pending.slice();
    return events;
  };
}
