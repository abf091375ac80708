import { expect, it } from 'vitest';
import { createPlaybackRegister } from './playbacks.ts';

it('createPlaybackRegister counts the requests of a browser as one playback, and a repeated one as another', () => {
  let seconds = 0;
  const playbacks = createPlaybackRegister(() => new Date(seconds * 1_000));
  const at = (second: number, isStart: boolean, actor = 'ann', session = 's') => {
    seconds = second;
    return playbacks.begin(actor, session, isStart);
  };
  expect(at(0, true)).toBe(true);
  expect([at(1, false), at(2, true), at(3, false), at(1_800, false)]).toEqual([false, false, false, false]);
  expect([at(1_800, true, 'ben'), at(1_800, true, 'ann', 't')]).toEqual([true, true]);
  expect([at(1_801, true), at(1_802, false)]).toEqual([true, false]);
  // The first request of a client may leave out the beginning.
  expect([at(5_500, false), at(5_501, false)]).toEqual([true, false]);
  expect(at(5_502, true, 'eve')).toBe(true);
  playbacks.forget('eve', 's');
  expect(at(5_503, false, 'eve')).toBe(true);
});
