import { expect, it } from 'vitest';
import { chooseBuildsToStart, type UnfinishedBuild } from './plan.ts';

const now = new Date('2026-11-20T12:00:00Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const build = (id: string, fields: Partial<UnfinishedBuild> = {}): UnfinishedBuild => ({
  id,
  organizationId: `of ${id}`,
  busy: false,
  restUntil: null,
  ...fields,
});

it.each<[string, readonly UnfinishedBuild[], number, boolean, readonly string[]]>([
  ['no build if none is open', [], 2, false, []],
  ['all builds if there are enough slots', [build('a'), build('b')], 2, false, ['a', 'b']],
  ['the oldest builds if there are too few slots', [build('a'), build('b'), build('c')], 2, false, ['a', 'b']],
  [
    'one build for each slot that no running build uses',
    [build('a', { busy: true }), build('b'), build('c')],
    2,
    false,
    ['b'],
  ],
  ['no build if all slots are taken', [build('a', { busy: true }), build('b')], 1, false, []],
  [
    'no build if more builds are running than there are slots',
    [build('a', { busy: true }), build('b', { busy: true }), build('c')],
    1,
    false,
    [],
  ],
  [
    'the next build if the oldest one waits for a retry',
    [build('a', { restUntil: at(1) }), build('b')],
    1,
    false,
    ['b'],
  ],
  ['a failed build again after its retry delay', [build('a', { restUntil: at(0) })], 1, false, ['a']],
  [
    'builds of other organizations before a second build of one organization',
    [build('a', { organizationId: 'many' }), build('b', { organizationId: 'many' }), build('c')],
    2,
    false,
    ['a', 'c'],
  ],
  [
    'no second build of an organization while its first one is running, despite a free slot',
    [build('a', { organizationId: 'many', busy: true }), build('b', { organizationId: 'many' })],
    2,
    false,
    [],
  ],
  [
    "an organization's next build while its first one waits for a retry",
    [build('a', { organizationId: 'many', restUntil: at(1) }), build('b', { organizationId: 'many' })],
    2,
    false,
    ['b'],
  ],
  ['no build during a shutdown', [build('a')], 1, true, []],
])('chooseBuildsToStart returns the builds that start now: %s', (_, builds, places, draining, begun) => {
  expect(chooseBuildsToStart(builds, { now, buildsAtOnce: places, draining })).toEqual(begun);
});
