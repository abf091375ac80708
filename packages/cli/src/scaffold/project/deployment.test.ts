import { expect, test } from 'vitest';
import { vendors } from '../catalogue/vendors.ts';
import { lowestOf } from '../configuration/plan.ts';
import { isOlder } from '../version-order.ts';
import { dockerfile } from './deployment.ts';

test('the Dockerfile pins a base image whose Python every service supports', () => {
  const [, python = ''] = /^FROM dailyco\/pipecat-base:\d+\.\d+\.\d+-py(3\.\d+)$/m.exec(dockerfile()) ?? [];
  expect(python).not.toBe('');
  expect(isOlder(python, lowestOf(vendors.flatMap(({ services }) => services)).python)).toBe(false);
});
