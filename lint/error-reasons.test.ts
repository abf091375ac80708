import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failures } from '../packages/contract/src/errors.ts';
import { repositoryRoot, trackedFiles } from './prose/tracked-files.ts';

const sources = trackedFiles(['ts', 'tsx'], 'packages');
const isTest = (path: string) => path.includes('.test.') || /^packages\/[^/]+\/test\//.test(path);

/** Returns all quoted words in files. Error reasons are always quoted. */
function quotedIn(paths: readonly string[]): ReadonlySet<string> {
  const texts = paths.map((path) => readFileSync(join(repositoryRoot, path), 'utf8'));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/(['"])([a-z]+(?:-[a-z]+)*)\1/g)].map(([, , word = '']) => word)),
  );
}

it('every reason of the error table is named by a test', () => {
  const named = quotedIn(sources.filter(isTest));
  expect(Object.keys(failures).filter((reason) => !named.has(reason))).toEqual([]);
});

it('every reason of the error table is produced by the server', () => {
  const produced = quotedIn(sources.filter((path) => path.startsWith('packages/server/src/') && !isTest(path)));
  expect(Object.keys(failures).filter((reason) => !produced.has(reason))).toEqual([]);
});
