import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runtimes } from './registry.ts';

it.each(Object.keys(runtimes))('the driver "%s" has a test that runs the conformance suite', async (kind) => {
  const test = await readFile(new URL(`../test/${kind}/conformance.test.ts`, import.meta.url), 'utf8');
  expect(test).toContain('defineRuntimeTests(');
});
