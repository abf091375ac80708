import { expect, it } from 'vitest';
import { parseChallenges } from './challenge.ts';

const read = (header: string | string[] | undefined) =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

it.each([
  ['Basic realm="Registry"', [['basic', { realm: 'Registry' }]]],
  [
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io"',
    [['bearer', { realm: 'https://auth.docker.io/token', service: 'registry.docker.io' }]],
  ],
  ['bearer Realm = "a" , scope="x,y z"', [['bearer', { realm: 'a', scope: 'x,y z' }]]],
  [
    'Bearer realm=a, Basic realm="b"',
    [
      ['bearer', { realm: 'a' }],
      ['basic', { realm: 'b' }],
    ],
  ],
  [
    'Negotiate abc==, Basic realm="b"',
    [
      ['negotiate', {}],
      ['basic', { realm: 'b' }],
    ],
  ],
  ['Bearer realm="a\\"b"', [['bearer', { realm: 'a"b' }]]],
  ['Bearer realm="first",realm="second"', [['bearer', { realm: 'first' }]]],
  ['Basic', [['basic', {}]]],
  [
    'Bearer realm="open',
    [
      ['bearer', {}],
      ['realm', {}],
    ],
  ],
  ['', []],
  [',,, "', []],
])('parseChallenges parses the header %j', (header, challenges) => expect(read(header)).toEqual(challenges));

it('parseChallenges parses several headers in order', () => {
  expect(read(['Bearer realm="a"', 'Basic realm="b"'])).toEqual(read('Bearer realm="a", Basic realm="b"'));
  expect(read(undefined)).toEqual([]);
});

it.each([
  ' '.repeat(1_000_000),
  `Bearer ${' ,'.repeat(500_000)}`,
  `Bearer a=${'"\\'.repeat(500_000)}`,
  'a'.repeat(1e6),
])('parseChallenges returns at most two challenges for an excessively long header', (header) =>
  expect(read(header).length).toBeLessThan(3),
);
