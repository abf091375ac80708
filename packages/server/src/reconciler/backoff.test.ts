import { describe, expect, it } from 'vitest';
import { createBackoff } from './backoff.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

describe('the rest after failed starts', () => {
  it('doubles from a second to a minute', () => {
    const backoff = createBackoff(() => now);
    const waits = Array.from({ length: 9 }, () => {
      backoff.failed('d');
      return backoff.until('d');
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => later(seconds * 1000)));
  });

  it('is over with the first start that works, and begins small again', () => {
    const backoff = createBackoff(() => now);
    backoff.failed('d');
    backoff.failed('d');
    backoff.succeeded('d');
    expect(backoff.until('d')).toBeNull();
    backoff.failed('d');
    expect(backoff.until('d')).toEqual(later(1000));
  });

  it('is of one deployment only', () => {
    const backoff = createBackoff(() => now);
    backoff.failed('d');
    expect(backoff.until('e')).toBeNull();
  });
});
