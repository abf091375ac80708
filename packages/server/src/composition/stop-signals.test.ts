import { describe, expect, it } from 'vitest';
import { readSignal } from './stop-signals.ts';

describe('readSignal', () => {
  it('starts the shutdown on the first signal, and ends the grace period on a later one', () => {
    expect(readSignal(null, 10_000)).toBe('stop');
    expect(readSignal(10_000, 10_500)).toBe('hurry');
  });

  it('ignores the second signal of one Ctrl-C, which npm forwards', () => {
    expect(readSignal(10_000, 10_002)).toBe('same');
  });
});
