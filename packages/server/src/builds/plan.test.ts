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
  ['no build is open, it starts none', [], 2, false, []],
  ['there are enough slots, it starts all', [build('a'), build('b')], 2, false, ['a', 'b']],
  ['there are too few slots, it starts the oldest builds', [build('a'), build('b'), build('c')], 2, false, ['a', 'b']],
  ['builds are running, they keep their slots', [build('a', { busy: true }), build('b'), build('c')], 2, false, ['b']],
  ['all slots are taken, it starts none', [build('a', { busy: true }), build('b')], 1, false, []],
  [
    'more builds are running than there are slots, it starts none',
    [build('a', { busy: true }), build('b', { busy: true }), build('c')],
    1,
    false,
    [],
  ],
  [
    'a build waits after a failure, it starts the others',
    [build('a', { restUntil: at(1) }), build('b')],
    1,
    false,
    ['b'],
  ],
  ['the wait after a failure is over, it starts the build again', [build('a', { restUntil: at(0) })], 1, false, ['a']],
  [
    'one organization has many builds, it starts those of others before a second one',
    [build('a', { organizationId: 'many' }), build('b', { organizationId: 'many' }), build('c')],
    2,
    false,
    ['a', 'c'],
  ],
  [
    'an organization already has a running build, its next one waits despite a free slot',
    [build('a', { organizationId: 'many', busy: true }), build('b', { organizationId: 'many' })],
    2,
    false,
    [],
  ],
  [
    "a build of an organization waits after a failure, it starts the organization's next build",
    [build('a', { organizationId: 'many', restUntil: at(1) }), build('b', { organizationId: 'many' })],
    2,
    false,
    ['b'],
  ],
  ['the service is shutting down, it starts none', [build('a')], 1, true, []],
])('planBuilds chooses the builds to start by the rule: if %s', (_, builds, places, draining, begun) => {
  expect(planBuilds(builds, { now, buildsAtOnce: places, draining })).toEqual(begun);
});
