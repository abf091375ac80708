import { describe, expect, it } from 'vitest';
import { endOf } from './attend.ts';
import { isCold } from './cold.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second));

describe('when a session ended whose bot is asked after a restart', () => {
  it.each([
    { said: at(20).toISOString(), end: at(20), because: 'the bot says so, and no server was there to hear it' },
    { said: undefined, end: at(30), because: 'the bot does not say, so it is known now' },
    { said: null, end: at(30), because: 'the bot does not say, so it is known now' },
    { said: at(40).toISOString(), end: at(30), because: 'nothing ends in the future' },
    { said: at(5).toISOString(), end: at(10), because: 'nothing ends before it starts' },
  ])('$because', ({ said, end }) => {
    expect(endOf({ endedAt: said }, at(10), at(30))).toEqual(end);
  });
});

describe('a start is cold', () => {
  it.each([
    { ready: at(1), requested: at(2), cold: false },
    { ready: at(2), requested: at(2), cold: false },
    { ready: at(3), requested: at(2), cold: true },
    { ready: null, requested: at(2), cold: true },
  ])('with an instance ready at $ready for a request at $requested: $cold', ({ ready, requested, cold }) => {
    expect(isCold({ ready_at: ready }, requested)).toBe(cold);
  });
});
