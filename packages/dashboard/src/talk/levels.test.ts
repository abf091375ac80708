import { expect, test } from 'vitest';
import { createLoudnessTracker, measureLoudness } from './levels.ts';

test('measureLoudness increases with the amplitude, and a level without new audio falls to 0', () => {
  expect(measureLoudness(new Int16Array(100))).toBe(0);
  expect(measureLoudness(new Int16Array(100).fill(32_000))).toBe(1);
  const quiet = measureLoudness(new Int16Array(100).fill(300));
  expect(quiet).toBeGreaterThan(0);
  expect(measureLoudness(new Int16Array(100).fill(3000))).toBeGreaterThan(quiet);
  let now = 0;
  const voice = createLoudnessTracker(() => now);
  voice.update(new Int16Array(100).fill(32_000));
  expect(voice.read()).toBe(1);
  now = 600;
  expect(voice.read()).toBe(0);
});
