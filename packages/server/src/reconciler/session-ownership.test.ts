import { describe, expect, it } from 'vitest';
import { createSessionOwnershipRegistry } from './session-ownership.ts';

const never = new AbortController().signal;

describe('session ownership', () => {
  it('lasts from acquire to release', () => {
    const ownership = createSessionOwnershipRegistry();
    expect(ownership.has('s')).toBe(false);
    ownership.acquire('s');
    expect(ownership.has('s')).toBe(true);
    ownership.release('s');
    expect(ownership.has('s')).toBe(false);
  });

  it('keeps the abort callback when a session is acquired again', () => {
    const ownership = createSessionOwnershipRegistry();
    let aborts = 0;
    ownership.acquire('s');
    ownership.onAbort('s', () => {
      aborts += 1;
    });
    ownership.acquire('s');
    ownership.abort('s');
    expect(aborts).toBe(1);
    ownership.abort('unknown');
    expect(aborts).toBe(1);
  });

  it('`abort` calls only the latest callback', () => {
    const ownership = createSessionOwnershipRegistry();
    const called: string[] = [];
    ownership.acquire('s');
    ownership.onAbort('s', () => called.push('first'));
    ownership.onAbort('s', () => called.push('second'));
    ownership.abort('s');
    expect(called).toEqual(['second']);
  });

  it('`release` resolves all `released` promises, from before and after a second `acquire` of the session', async () => {
    const ownership = createSessionOwnershipRegistry();
    ownership.acquire('s');
    const first = ownership.released('s', never);
    ownership.acquire('s');
    const second = ownership.released('s', never);
    ownership.release('s');
    await Promise.all([first, second]);
    await ownership.released('s', never);
  });

  it('`released` resolves when its signal aborts, although the session is still owned', async () => {
    const ownership = createSessionOwnershipRegistry();
    ownership.acquire('s');
    const aborting = new AbortController();
    const waiting = ownership.released('s', aborting.signal);
    aborting.abort();
    await waiting;
    await ownership.released('s', aborting.signal);
    expect(ownership.has('s')).toBe(true);
  });
});
