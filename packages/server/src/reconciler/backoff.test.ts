import { describe, expect, it } from 'vitest';
import { createBackoff } from './backoff.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const later = (milliseconds: number) => new Date(now.getTime() + milliseconds);

describe('the backoff after failed starts', () => {
  it('doubles from one second up to one minute', () => {
    let clock = now;
    const backoff = createBackoff(() => clock);
    const waits = Array.from({ length: 9 }, () => {
      backoff.failed('d');
      const until = backoff.until('d') ?? clock;
      const wait = until.getTime() - clock.getTime();
      clock = until;
      return wait;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1000));
  });

  it('counts concurrent failures once', () => {
    let clock = now;
    const backoff = createBackoff(() => clock);
    for (let count = 0; count < 5; count += 1) backoff.failed('d');
    clock = later(500);
    backoff.failed('d');
    expect(backoff.until('d')).toEqual(later(1500));
  });

  it('ends with the first successful start', () => {
    const backoff = createBackoff(() => now);
    backoff.failed('d');
    backoff.failed('d');
    backoff.succeeded('d');
    expect(backoff.until('d')).toBeNull();
  });

  it('grows for a bot that exits right after each successful start', () => {
    let clock = now;
    const backoff = createBackoff(() => clock);
    const waits = Array.from({ length: 5 }, () => {
      backoff.failed('d');
      const until = backoff.until('d') ?? clock;
      const wait = until.getTime() - clock.getTime();
      clock = until;
      backoff.succeeded('d');
      return wait;
    });
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000]);
  });

  it('starts from one second again if the last failure was long ago', () => {
    let clock = now;
    const backoff = createBackoff(() => clock);
    backoff.failed('d');
    clock = later(1000);
    backoff.failed('d');
    clock = later(301_000);
    backoff.failed('d');
    expect(backoff.until('d')).toEqual(later(302_000));
  });

  it('applies to one deployment only', () => {
    const backoff = createBackoff(() => now);
    backoff.failed('d');
    expect(backoff.until('e')).toBeNull();
  });

  it('drops the entry of a deployment whose last failure was long ago', () => {
    let clock = now;
    const backoff = createBackoff(() => clock);
    backoff.failed('former');
    clock = later(1_000);
    backoff.failed('recent');
    clock = later(300_000);
    backoff.failed('d');
    expect(backoff.until('former')).toBeNull();
    expect(backoff.until('recent')).toEqual(later(2_000));
  });
});
