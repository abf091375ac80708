import { describe, expect, it } from 'vitest';
import { createStartDeadline } from './start-deadline.ts';

function begin() {
  const [launch, start] = [new AbortController(), new AbortController()];
  let starts = 0;
  const deadline = createStartDeadline(launch.signal, () => {
    starts += 1;
    return start.signal;
  });
  return { launch, start, deadline, starts: () => starts };
}

describe('createStartDeadline', () => {
  it('limits the time until the launch', () => {
    const { launch, deadline } = begin();
    expect(deadline.missed()).toBeNull();
    launch.abort();
    expect([deadline.signal.aborted, deadline.missed()]).toEqual([true, 'launch']);
  });

  it('ignores the limit of the launch after the launch, and begins the limit of the bot once', () => {
    const { launch, start, deadline, starts } = begin();
    deadline.launched();
    deadline.launched();
    launch.abort();
    expect([deadline.signal.aborted, deadline.missed(), starts()]).toEqual([false, null, 1]);
    start.abort();
    expect([deadline.signal.aborted, deadline.missed()]).toEqual([true, 'start']);
  });
});
