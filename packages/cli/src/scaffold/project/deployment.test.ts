import { expect, test } from 'vitest';
import { vendors } from '../catalogue/vendors.ts';
import { findMinimumPipecatAndPython } from '../configuration/plan.ts';
import { isOlderVersion } from '../version-order.ts';
import { generateDockerfile } from './deployment.ts';

test('the Dockerfile pins a base image with a Python version that every service supports', () => {
  const [, python = ''] = /^FROM dailyco\/pipecat-base:\d+\.\d+\.\d+-py(3\.\d+)$/m.exec(generateDockerfile()) ?? [];
  expect(python).not.toBe('');
  expect(isOlderVersion(python, findMinimumPipecatAndPython(vendors.flatMap(({ services }) => services)).python)).toBe(
    false,
  );
});
