import { expect, it } from 'vitest';
import { checkClock } from './check-clock.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 28, 12) + seconds * 1000);

it.each([
  ['agree', 0.5, 'ok', 'The clocks of the service and of this machine agree.'],
  ['differ by ten seconds', 10.5, 'ok', 'The clocks of the service and of this machine agree.'],
  ['differ only because the response took long', 11.4, 'ok', 'The clocks of the service and of this machine agree.'],
  [
    'differ: the service is ahead',
    61,
    'failed',
    'The clock of the service is 60 seconds ahead of the clock of this machine.',
  ],
  [
    'differ: the service is behind',
    -59,
    'failed',
    'The clock of the service is 60 seconds behind the clock of this machine.',
  ],
])('checkClock for clocks that %s', (_, serviceSeconds, state, reason) => {
  expect(checkClock(at(serviceSeconds), at(0), at(2))).toMatchObject({ subject: 'Clock', state, reason });
});
