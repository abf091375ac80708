import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listTrackedFiles, repositoryRoot } from '../prose/tracked-files.ts';
import { readImports } from './read-imports.ts';

/** Modules by which a program sees its account, or a database. Other modules compute the same for every account. */
const sensitive = /^(?:node:(?:child_process|fs|fs\/promises|net|os)|pg)$/;
const isSensitive = (text: string) => /\bprocess\.(?:set|get)e?[ug]id\b/.test(text);

/**
 * Returns the tests whose result can depend on the account or the database, because they import a module that sees either,
 * directly or through other modules.
 */
export function findAccountTests(texts: ReadonlyMap<string, string>): readonly string[] {
  const importers = new Map<string, string[]>();
  const found: string[] = [];
  for (const [path, text] of texts) {
    const targets = readImports(path, text).flatMap(({ target, isType }) => (isType || target === null ? [] : target));
    for (const target of targets.map(toSourcePath)) importers.set(target, [...(importers.get(target) ?? []), path]);
    if (isSensitive(text) || targets.some((target) => sensitive.test(target))) found.push(path);
  }
  // Also visits what is added during the loop.
  const all = new Set(found);
  for (const path of all) for (const importer of importers.get(path) ?? []) all.add(importer);
  return [...all].filter((path) => path.endsWith('.test.ts')).sort();
}

/** Returns the source of an entry point, for example `packages/contract/src/limits.ts` for `@bothost/contract/limits`. */
function toSourcePath(target: string): string {
  const [, name, entry = name === 'runtime' ? 'runtime' : 'index'] = /^@bothost\/(\w+)(?:\/(.+))?$/.exec(target) ?? [];
  return name === undefined ? target : `packages/${name}/src/${entry}.ts`;
}

/**
 * Tests of the API send requests to a whole server. Only these handle files or text whose order depends on the database; the others
 * add nothing to the tests beside the code and to `packages/server/test/faults`, which also run as an ordinary user.
 */
const isLeftOut = (path: string) =>
  /^packages\/server\/test\/api\/(?!(?:accounts|builds|conversations|logs)\.)/.test(path);

/** Returns the account tests of the packages. */
export function listAccountTests(): string[] {
  const paths = listTrackedFiles(['ts', 'tsx'], 'packages').filter(
    (path) => !path.startsWith('packages/cli/templates/'),
  );
  const texts = new Map(paths.map((path) => [path, readFileSync(join(repositoryRoot, path), 'utf8')]));
  return findAccountTests(texts).filter((path) => !isLeftOut(path));
}
