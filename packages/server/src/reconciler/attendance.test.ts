import { describe, expect, it } from 'vitest';
import { createAttendance } from './attendance.ts';

const never = new AbortController().signal;

describe('attendance', () => {
  it('is held from the first word to the release', () => {
    const attendance = createAttendance();
    expect(attendance.has('s')).toBe(false);
    attendance.hold('s');
    expect(attendance.has('s')).toBe(true);
    expect(attendance.size()).toBe(1);
    attendance.release('s');
    expect(attendance.has('s')).toBe(false);
    expect(attendance.size()).toBe(0);
  });

  it('calls what gives the session up, also when it is held again without one', () => {
    const attendance = createAttendance();
    let aborts = 0;
    attendance.hold('s', () => {
      aborts += 1;
    });
    attendance.hold('s');
    attendance.abort('s');
    expect(aborts).toBe(1);
    attendance.abort('unknown');
    expect(aborts).toBe(1);
  });

  it('gives the session up by the latest way that was named', () => {
    const attendance = createAttendance();
    const called: string[] = [];
    attendance.hold('s', () => called.push('first'));
    attendance.hold('s', () => called.push('second'));
    attendance.abort('s');
    expect(called).toEqual(['second']);
  });

  it('tells all who wait for the release, also those who came before it was held again', async () => {
    const attendance = createAttendance();
    attendance.hold('s');
    const first = attendance.released('s', never);
    attendance.hold('s', () => undefined);
    const second = attendance.released('s', never);
    attendance.release('s');
    await Promise.all([first, second]);
    await attendance.released('s', never);
  });

  it('lets go of those who wait no longer, and the session stays held', async () => {
    const attendance = createAttendance();
    attendance.hold('s');
    const aborting = new AbortController();
    const waiting = attendance.released('s', aborting.signal);
    aborting.abort();
    await waiting;
    await attendance.released('s', aborting.signal);
    expect(attendance.has('s')).toBe(true);
  });
});
