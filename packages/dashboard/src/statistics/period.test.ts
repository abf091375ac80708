import { expect, test } from 'vitest';
import { createSessionQuery } from '../sessions/session-filter.ts';
import { filterCountedSessions } from './period.ts';

test('filterCountedSessions selects sessions from the start of the first interval of the statistics', () => {
  const points = [{ at: '2026-11-16T14:00:00.000Z' }, { at: '2026-11-16T16:00:00.000Z' }];
  const query = createSessionQuery({ status: 'failed', ...filterCountedSessions(points) }, Date.now());
  expect(query).toEqual({ status: 'failed', startTime: Date.parse('2026-11-16T14:00:00.000Z') / 1_000 });
});
