import { describe, expect, it } from 'vitest';
import { readSignal } from './stop-signals.ts';

describe('signals that stop the service', () => {
  it('the first signal starts the shutdown, a later one ends the grace period', () => {
    expect(readSignal(null, 10_000)).toBe('stop');
    expect(readSignal(10_000, 10_500)).toBe('hurry');
  });

  it('a duplicate of the same key press from npm does not end the grace period', () => {
    expect(readSignal(10_000, 10_002)).toBe('same');
  });
});
