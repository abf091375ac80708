import { expect, test } from 'vitest';
import { createWaveform, createWaveformPath } from './waveform.ts';

const base64 = (...bytes: readonly number[]) => btoa(String.fromCharCode(...bytes));
const peaks = (from: number, user: string, bot: string) => ({ kind: 'peaks', at: from, from, user, bot }) as const;

test('createWaveform joins peaks in any order, and leaves silence where the bot wrote none', () => {
  const lines = [peaks(150, base64(7, 8), base64(9)), peaks(0, base64(1, 255), base64(3, 4))];
  const waveform = createWaveform(lines);
  expect([...(waveform?.user ?? [])]).toEqual([1, 255, 0, 7, 8]);
  expect([...(waveform?.bot ?? [])]).toEqual([3, 4, 0, 9, 0]);
  expect(createWaveform([])).toBeNull();
});

test('createWaveformPath draws the highest peak of each column, and a thin line where there is none', () => {
  const waveform = Uint8Array.from([0, 255, 0, 0]);
  expect(createWaveformPath(waveform, { fromMs: 0, toMs: 200 }, 2)).toBe('M0 1.5L1 49.5L1 50.5L0 98.5Z');
  expect(createWaveformPath(waveform, { fromMs: 1_000, toMs: 2_000 }, 2)).toBe('M0 49.5L1 49.5L1 50.5L0 50.5Z');
});
