import { expect, test } from 'vitest';
import { decodeMuLaw, encodeMuLaw } from './mu-law.ts';

test('decodeMuLaw returns the G.711 samples of the loudest and the quietest byte', () => {
  const decoded = decodeMuLaw(Uint8Array.of(0x00, 0x80, 0xff, 0x7f, 0xf0, 0x70, 0x8f));
  expect([...decoded].map((sample) => sample + 0)).toEqual([-32_124, 32_124, 0, 0, 120, -120, 16_764]);
});

test('encodeMuLaw restores each byte from its decoded sample, except that negative zero becomes positive zero', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  expect(encodeMuLaw(decodeMuLaw(bytes))).toEqual(bytes.map((byte) => (byte === 0x7f ? 0xff : byte)));
});

test('encoding and then decoding a sample changes the sample by less than a fifteenth of its value', () => {
  const samples = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);
  const back = decodeMuLaw(encodeMuLaw(samples));
  const worst = samples.reduce((most, sample, index) => {
    const error = Math.abs(sample - (back[index] ?? 0));
    return Math.max(most, error / Math.max(Math.abs(sample), 64));
  }, 0);
  expect(worst).toBeLessThan(1 / 15);
});
