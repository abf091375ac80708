import { expect, it } from 'vitest';
import { type DiskState, type DiskUse, findDiskLimitViolations } from './choose-to-end.ts';

const mib = 1_048_576;
const limits = {
  instanceBytes: 1024 * mib,
  buildBytes: 8192 * mib,
  organizationBytes: 2000 * mib,
  reserveBytes: 1024 * mib,
};

const use = (id: string, changes: Partial<DiskUse> = {}): DiskUse => ({
  id,
  kind: 'instance',
  owner: null,
  limitBytes: limits.instanceBytes,
  bytes: 10 * mib,
  isUncountable: false,
  grownBytes: 0,
  writtenBytes: 0,
  isEnding: false,
  ...changes,
});
const state = (uses: readonly DiskUse[], changes: Partial<DiskState> = {}): DiskState => ({
  limits,
  uses,
  organizations: new Map(),
  isReserveAtRisk: false,
  ...changes,
});
const atRisk = { isReserveAtRisk: true } as const;
const idle = use('idle', { grownBytes: 16 * mib, writtenBytes: 16 * mib });
const writing = use('writing', { grownBytes: 17 * mib });
const hidden = use('hidden', { writtenBytes: 17 * mib });
const unknown = use('unknown', { bytes: null });
const large = use('large', { bytes: 1024 * mib + 1 });
const member = (id: string, changes: Partial<DiskUse> = {}) => use(id, { owner: 'acme', ...changes });
const acme = { organizations: new Map([['acme', limits.organizationBytes + 1]]) };

it.for<[situation: string, state: DiskState, ends: Readonly<Record<string, RegExp>>]>([
  ['nothing within the limits', state([writing, hidden, unknown, use('full', { bytes: 1024 * mib })]), {}],
  [
    'every instance above the limit of an instance',
    state([large, { ...large, id: 'other' }, writing]),
    { large: /^The instance used 1025 MiB of disk space\. An instance may use 1024 MiB\.$/, other: /1025 MiB/ },
  ],
  [
    'a build above the limit of a build',
    state([use('build', { kind: 'build', limitBytes: 5 * mib })]),
    { build: /^The build used 10 MiB of disk space\. A build may use 5 MiB\.$/ },
  ],
  [
    'an instance whose files cannot be counted',
    state([use('wide', { isUncountable: true })]),
    { wide: /^The instance has more files than the service can count in a minute\.$/ },
  ],
  [
    'the instance that grew the most, of an organization above its limit',
    state([writing, member('a', { grownBytes: 17 * mib }), member('b', { grownBytes: 18 * mib })], acme),
    { b: /^The organization used 2001 MiB .* this instance grew the most\. An organization may use 2000 MiB\.$/ },
  ],
  [
    'nothing of an organization above its limit while its instances grow slowly',
    state([member('a', { grownBytes: 16 * mib }), writing], acme),
    {},
  ],
  [
    'no second instance of an organization while another instance is ending',
    state([member('a', { isEnding: true }), member('b', { grownBytes: 17 * mib })], acme),
    {},
  ],
  [
    'the instance that grew the most while the reserve is at risk',
    state([idle, writing, use('faster', { grownBytes: 90 * mib })], atRisk),
    { faster: /^The disk of the service is almost full, and this instance was writing the most to it\.$/ },
  ],
  [
    'only the instance above its limit while the reserve is at risk',
    state([large, writing], atRisk),
    { large: /1024 MiB/ },
  ],
  [
    'the instance that wrote the most if no measured size grew',
    state([idle, hidden, unknown], atRisk),
    { hidden: /full/ },
  ],
  ['the instance of unknown size if no instance is seen writing', state([idle, unknown], atRisk), { unknown: /full/ }],
  ['nothing while the reserve is at risk but instances grow slowly', state([idle], atRisk), {}],
  [
    'nothing while the instance that grew the most is already ending',
    state([writing, use('faster', { grownBytes: 90 * mib, isEnding: true })], atRisk),
    {},
  ],
])('findDiskLimitViolations returns only the instances and builds to end: %s', ([, given, ends]) => {
  const chosen = findDiskLimitViolations(given);
  expect(chosen.map(({ id }) => id)).toEqual(Object.keys(ends));
  for (const { id, reason } of chosen) expect(reason).toMatch(ends[id] ?? /never/);
});
