import { describe, expect, it } from 'vitest';
import { readSignal } from './stop-signals.ts';

describe('signals that stop the service', () => {
  it('the first one begins the stop, and a later one ends the grace', () => {
    expect(readSignal(null, 10_000)).toBe('stop');
    expect(readSignal(10_000, 10_500)).toBe('hurry');
  });

  it('one press that npm passes on as well does not end the grace', () => {
    expect(readSignal(10_000, 10_002)).toBe('same');
  });
});
