import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failureReasons } from '../packages/cli/src/failure-reasons.ts';
import { apiErrorDefinitions } from '../packages/contract/src/errors.ts';
import { listTrackedFiles, repositoryRoot } from './prose/tracked-files.ts';

const sources = listTrackedFiles(['ts', 'tsx'], 'packages');
const isTest = (path: string) => path.includes('.test.') || /^packages\/[^/]+\/test\//.test(path);

/** Returns all quoted words in files. Error reasons are always quoted. */
function quotedIn(paths: readonly string[]): ReadonlySet<string> {
  const texts = paths.map((path) => readFileSync(join(repositoryRoot, path), 'utf8'));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(/(['"])([a-z]+(?:-[a-z]+)*)\1/g)].map(([, , word = '']) => word)),
  );
}

it('every error reason of the API is named by a test', () => {
  const named = quotedIn(sources.filter(isTest));
  expect(Object.keys(apiErrorDefinitions).filter((reason) => !named.has(reason))).toEqual([]);
});

it('every error reason of the API is produced by the server', () => {
  const produced = quotedIn(sources.filter((path) => path.startsWith('packages/server/src/') && !isTest(path)));
  expect(Object.keys(apiErrorDefinitions).filter((reason) => !produced.has(reason))).toEqual([]);
});

it('every error reason of botcli is produced by botcli, and differs from all error reasons of the API', () => {
  const texts = sources
    .filter((path) => /^packages\/(?:cli|packing)\/src\//.test(path) && !isTest(path))
    .map((path) => readFileSync(join(repositoryRoot, path), 'utf8'));
  const constructed = /(?:new Failure|new PackingError|describeLocalFailure)\(\s*'([a-z-]+)'/g;
  const produced = new Set(texts.flatMap((text) => [...text.matchAll(constructed)].map(([, reason]) => reason)));
  expect(
    Object.keys(failureReasons).filter((reason) => !produced.has(reason) || reason in apiErrorDefinitions),
  ).toEqual([]);
});
