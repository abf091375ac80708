import { expect, test } from 'vitest';
import { createGreetingSound, measureLoudness, resample, synthesizeChirps } from './sound.ts';
import { createVoiceActivityDetector, type VoiceEvent } from './voice-activity.ts';

const rate = 16_000;

function tone(seconds: number, amplitude: number, hertz = 220): Int16Array {
  return Int16Array.from({ length: seconds * rate }, (_, i) =>
    Math.round(amplitude * 32_767 * Math.sin((2 * Math.PI * hertz * i) / rate)),
  );
}

/** Passes sounds in pieces that are not aligned with the detection windows, like audio from a network. */
function heard(...sounds: readonly Int16Array[]): VoiceEvent[] {
  const hear = createVoiceActivityDetector();
  const events: VoiceEvent[] = [];
  for (const sound of sounds) {
    for (let at = 0; at < sound.length; at += 500) events.push(...hear(sound.slice(at, at + 500), rate));
  }
  return events;
}

test('the voice activity detector reports a sound between silences as one utterance', () => {
  const [started, stopped, ...more] = heard(tone(1, 0), tone(1, 0.3), tone(1, 0));
  expect(started).toEqual({ kind: 'started', sinceMs: 120 });
  if (stopped?.kind !== 'stopped') throw new Error('the utterance did not stop');
  expect(stopped.sinceMs).toBe(700);
  expect(stopped.speech.length / stopped.sampleRate).toBeCloseTo(1.4, 1);
  expect(measureLoudness(stopped.speech.slice(0, 1600))).toBe(0);
  expect(more).toEqual([]);
});

test('the voice activity detector ignores clicks, whispers and pauses within a sentence', () => {
  expect(heard(tone(1, 0), tone(0.08, 0.5), tone(1, 0))).toEqual([]);
  expect(heard(tone(3, 0.01))).toEqual([]);
  const events = heard(tone(0.5, 0.3), tone(0.5, 0), tone(0.5, 0.3), tone(1, 0));
  expect(events.map((event) => event.kind)).toEqual(['started', 'stopped']);
});

test('the voice activity detector adapts to constant noise and still reports speech', () => {
  const kinds = heard(tone(40, 0.05), tone(1, 0.5), tone(1, 0.05)).map((event) => event.kind);
  expect(kinds).toEqual(['started', 'stopped', 'started', 'stopped']);
});

test('resample keeps the length in seconds and the pitch', () => {
  const up = resample(tone(1, 0.5), rate, 24_000);
  expect(up.length).toBe(24_000);
  const crossings = up.filter((sample, i) => i > 0 && sample >= 0 && (up[i - 1] ?? 0) < 0).length;
  expect(crossings).toBeGreaterThanOrEqual(219);
  expect(crossings).toBeLessThanOrEqual(221);
});

test('the greeting is audible and does not clip, and each word of a text becomes a chirp', () => {
  const sound = createGreetingSound(24_000);
  expect(measureLoudness(sound)).toBeGreaterThan(0.05);
  expect(Math.max(...sound)).toBeLessThan(20_000);
  expect(synthesizeChirps('', 24_000).length).toBe(0);
  expect(synthesizeChirps('hello you', 24_000).length).toBeGreaterThan(synthesizeChirps('hello', 24_000).length);
});
