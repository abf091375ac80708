import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runtimes } from './registry.ts';

it.each(Object.keys(runtimes))('the driver "%s" has a test that runs the conformance suite', async (kind) => {
  const directory = new URL(`../test/${kind}/`, import.meta.url);
  const names = (await readdir(directory)).filter((name) => /^conformance\..*test\.ts$/.test(name));
  const tests = await Promise.all(names.map((name) => readFile(new URL(name, directory), 'utf8')));
  expect(tests.join('')).toContain('defineRuntimeTests(');
});
