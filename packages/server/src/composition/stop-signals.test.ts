import { describe, expect, it } from 'vitest';
import { interpretStopSignal } from './stop-signals.ts';

describe('interpretStopSignal', () => {
  it('starts the shutdown on the first signal, and ends the grace period on a later one', () => {
    expect(interpretStopSignal(null, 10_000)).toBe('stop');
    expect(interpretStopSignal(10_000, 10_500)).toBe('hurry');
  });

  it('ignores a second signal within 500 ms, because npm repeats the signal of one Ctrl-C', () => {
    expect(interpretStopSignal(10_000, 10_002)).toBe('same');
  });
});
