import { expect, it } from 'vitest';
import { createForkServerLauncher } from './launcher.ts';

const minuteMs = 60_000;

it('createForkServerLauncher launches at most five fork servers of a deployment in ten minutes', async () => {
  let nowMs = 0;
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const context = { logger, now: () => new Date(nowMs), track: (work: Promise<void>) => work };
  const launcher = createForkServerLauncher(context, 'deployment', () => undefined);
  const startedAt: number[] = [];
  for (let minute = 0; minute < 20; minute++) {
    nowMs = minute * minuteMs;
    launcher.start(async () => void startedAt.push(minute));
    await launcher.running();
  }
  expect(startedAt).toEqual([0, 1, 2, 3, 4, 10, 11, 12, 13, 14]);
});
