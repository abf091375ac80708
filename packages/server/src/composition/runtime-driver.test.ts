import { expect, it } from 'vitest';
import { getDefaultStartsAtOnce } from './runtime-driver.ts';

it.each([
  ['process', 2, 8],
  ['docker', 8, 32],
  ['kubernetes', 2, 32],
  ['kubernetes', 64, 32],
] as const)(
  'getDefaultStartsAtOnce returns for %s on a machine with %i processors: %i',
  (kind, processors, startsAtOnce) => {
    expect(getDefaultStartsAtOnce(kind, processors)).toBe(startsAtOnce);
  },
);
