import { expect, test } from 'vitest';
import { createLevel, level } from './levels.ts';

test('levels follow loudness and fall to nothing in silence', () => {
  expect(level(new Int16Array(100))).toBe(0);
  expect(level(new Int16Array(100).fill(32_000))).toBe(1);
  const quiet = level(new Int16Array(100).fill(300));
  expect(quiet).toBeGreaterThan(0);
  expect(level(new Int16Array(100).fill(3000))).toBeGreaterThan(quiet);
  let now = 0;
  const voice = createLevel(() => now);
  voice.hear(new Int16Array(100).fill(32_000));
  expect(voice.read()).toBe(1);
  now = 600;
  expect(voice.read()).toBe(0);
});
