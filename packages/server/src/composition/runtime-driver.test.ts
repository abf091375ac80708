import { expect, it } from 'vitest';
import { findInternalUrl, getDefaultStartsAtOnce, readsUsage } from './runtime-driver.ts';

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

it.each([
  ['process', undefined, 'http://127.0.0.1:7420'],
  ['docker', undefined, null],
  ['docker', 'http://10.0.0.1:7420', 'http://10.0.0.1:7420'],
] as const)('findInternalUrl returns for %s, if the setting is %s: %s', (runtime, internalUrl, url) => {
  expect(findInternalUrl({ runtime, internalUrl }, 'http://127.0.0.1:7420')).toBe(url);
});

it.each([
  ['docker', 'off', true],
  ['kubernetes', 'kubelet', true],
  ['kubernetes', 'off', false],
] as const)('readsUsage returns for %s, if the setting is %s: %s', (runtime, kubernetesUsage, isRead) => {
  expect(readsUsage({ runtime, kubernetesUsage })).toBe(isRead);
});
