import { expect, it } from 'vitest';
import { type PlannedBuild, planBuilds } from './plan.ts';

const now = new Date('2026-11-20T12:00:00Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const build = (id: string, fields: Partial<PlannedBuild> = {}): PlannedBuild => ({
  id,
  organizationId: `of ${id}`,
  busy: false,
  restUntil: null,
  ...fields,
});

it.each<[string, readonly PlannedBuild[], number, boolean, readonly string[]]>([
  ['nothing is open', [], 2, false, []],
  ['there are places for all', [build('a'), build('b')], 2, false, ['a', 'b']],
  ['there are fewer places, the oldest begin', [build('a'), build('b'), build('c')], 2, false, ['a', 'b']],
  ['some are under way, they keep their places', [build('a', { busy: true }), build('b'), build('c')], 2, false, ['b']],
  ['all places are taken', [build('a', { busy: true }), build('b')], 1, false, []],
  [
    'more are under way than there are places',
    [build('a', { busy: true }), build('b', { busy: true }), build('c')],
    1,
    false,
    [],
  ],
  ['one rests after a failure, the others go on', [build('a', { restUntil: at(1) }), build('b')], 1, false, ['b']],
  ['one has rested', [build('a', { restUntil: at(0) })], 1, false, ['a']],
  [
    'one organization has many, others go before its second',
    [build('a', { organizationId: 'many' }), build('b', { organizationId: 'many' }), build('c')],
    2,
    false,
    ['a', 'c'],
  ],
  [
    'one of an organization is under way, its next waits, though there is a place',
    [build('a', { organizationId: 'many', busy: true }), build('b', { organizationId: 'many' })],
    2,
    false,
    [],
  ],
  [
    'one of an organization rests, its next begins',
    [build('a', { organizationId: 'many', restUntil: at(1) }), build('b', { organizationId: 'many' })],
    2,
    false,
    ['b'],
  ],
  ['the service is shutting down', [build('a')], 1, true, []],
])('when %s', (_, builds, places, draining, begun) => {
  expect(planBuilds(builds, { now, places, draining })).toEqual(begun);
});
