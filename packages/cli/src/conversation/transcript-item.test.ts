import pico from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from './transcript.ts';
import { createTranscriptItem, formatSessionTime, wrapWords } from './transcript-item.ts';

const plain = pico.createColors(false);
const entry: TranscriptEntry = {
  from: 62_345,
  who: 'bot',
  text: 'The capital of',
  ms: 812,
  measuredFrom: 'silence',
  isInterrupted: true,
  isFailure: false,
};

describe('createTranscriptItem', () => {
  it('separates the fields by tabs in plain output', () => {
    expect(createTranscriptItem(entry, 80, null).plain).toBe('62345\tbot\t812\tThe capital of [interrupted]');
  });

  it('aligns the fields on a terminal, and wraps the text into its column', () => {
    expect(createTranscriptItem(entry, 50, null).rich(plain)).toBe(
      '   1:02.3  bot        812 ms  The capital of\n                              [interrupted]',
    );
  });

  it('marks a response that is not measured from silence', () => {
    expect(createTranscriptItem({ ...entry, measuredFrom: 'release' }, 80, null).plain).toContain('\t812*\t');
  });

  it('escapes what a bot could use to control the terminal', () => {
    const item = createTranscriptItem({ ...entry, text: '\u001b[2Jone\ttwo\nthree\u202e' }, 200, null);
    expect(item.plain).toBe('62345\tbot\t812\tone\\ttwo\\nthree\\u202e [interrupted]');
    for (const control of ['\u001b', '\n', '\u202e']) expect(item.rich(plain)).not.toContain(control);
  });
});

describe('formatSessionTime', () => {
  it.each([
    [0, '0:00.0'],
    [59_960, '0:59.9'],
    [3_723_400, '1:02:03.4'],
  ])('formats %i ms as %s', (milliseconds, expected) => {
    expect(formatSessionTime(milliseconds)).toBe(expected);
  });
});

describe('wrapWords', () => {
  it('breaks at spaces, and inside a word that is too long', () => {
    expect(wrapWords(`one two three ${'x'.repeat(25)} four`, 20)).toEqual([
      'one two three',
      'x'.repeat(20),
      'xxxxx four',
    ]);
    expect(wrapWords('one two', 5)).toEqual(['one two']);
  });
});
