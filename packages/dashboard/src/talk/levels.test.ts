import { expect, test } from 'vitest';
import { createLevel, loudness } from './levels.ts';

test('loudness increases with the amplitude and falls to 0 in silence', () => {
  expect(loudness(new Int16Array(100))).toBe(0);
  expect(loudness(new Int16Array(100).fill(32_000))).toBe(1);
  const quiet = loudness(new Int16Array(100).fill(300));
  expect(quiet).toBeGreaterThan(0);
  expect(loudness(new Int16Array(100).fill(3000))).toBeGreaterThan(quiet);
  let now = 0;
  const voice = createLevel(() => now);
  voice.update(new Int16Array(100).fill(32_000));
  expect(voice.read()).toBe(1);
  now = 600;
  expect(voice.read()).toBe(0);
});
