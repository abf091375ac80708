import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { importStatementTemplates } from './import-forms.ts';
import { type LintFinding, runLintOnSampleFiles } from './run-lint-on-sample-files.ts';

const server = 'packages/server/src';
const architecture = readFileSync(fileURLToPath(new URL('../docs/architecture.md', import.meta.url)), 'utf8');

/** The table under "What may import what" in docs/architecture.md: for each folder, all names that it may import. */
const rows: ReadonlyMap<string, readonly string[]> = (() => {
  const [, section = ''] = architecture.split('## What may import what\n');
  const [table = ''] = section.split('\n## ');
  const found = new Map<string, readonly string[]>();
  for (const [, folder = '', cell = ''] of table.matchAll(/^\| `([\w/-]+)\/` \| (.+) \|$/gm)) {
    const [, like] = /^as `([\w-]+)\/`/.exec(cell) ?? [];
    const named = [...cell.replace(/^as [^;]+/, '').matchAll(/`(?:packages\/)?([\w./-]+?)\/?`/g)];
    found.set(folder, [...(found.get(like ?? '') ?? []), ...named.map(([, name = '']) => name)]);
  }
  return found;
})();

const folders = [
  'store',
  'concurrency',
  'audit',
  'organizations',
  'accounts',
  'builds',
  'secrets',
  'logs',
  'metrics',
  'agents',
  'instances',
  'sessions',
  'reconciler',
  'session-starts',
  'backup',
  'http',
  'composition',
];
/** Maps each folder of the runtime package to the start of the error message of its lint rule. */
const runtimeMessages: Readonly<Record<string, RegExp>> = {
  'packages/runtime/src': /The runtime interface imports only/,
  'packages/runtime/src/process': /A driver imports only/,
};
const messageFor = (folder: string) => runtimeMessages[folder] ?? new RegExp(`\\b${folder}/.* may import only what`);

const isOfServer = (folder: string) => !folder.startsWith('packages/');
/** Subfolders without a row in the table, each with the folder whose row applies to it. */
const subfolders: Readonly<Record<string, string>> = {
  'instances/claim': 'instances',
  'packages/runtime/src/process/output': 'packages/runtime/src/process',
};
const tableRows = [...Object.keys(runtimeMessages), ...folders];
const places = [...tableRows, ...Object.keys(subfolders)];
const rowOf = (place: string) => subfolders[place] ?? place;

/** For each package in the table, the specifier with which other packages import it. */
const packages: Readonly<Record<string, string>> = {
  contract: '@bothost/contract',
  dashboard: '@bothost/dashboard',
  parrot: '@bothost/parrot',
  botcli: 'botcli',
  'inside of the contract': '@bothost/contract/dist/limits.js',
};

const runtimeManifest: { readonly exports: Readonly<Record<string, { readonly default: string }>> } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../packages/runtime/package.json', import.meta.url)), 'utf8'),
);
/** The entry points of the runtime package, such as `/registry`. The main one is the empty string. */
const runtimeEntryPoints = Object.keys(runtimeManifest.exports).map((entry) => entry.slice(1));

/**
 * Returns the import specifiers to test in a file of `folder`, each with a name as its key. The import is allowed if this name
 * is in the folder's row of the table "What may import what" in docs/architecture.md.
 */
const targets = (folder: string) => (isOfServer(folder) ? serverTargets(folder) : runtimeTargets(folder));

function serverTargets(folder: string): Record<string, string> {
  const up = folder.includes('/') ? '../..' : '..';
  const own = folder.split('/')[0] ?? folder;
  const others = folders.filter((name) => name !== own);
  return {
    ...packages,
    ...Object.fromEntries(others.map((name) => [name, `${up}/${name}/verb.ts`])),
    ...Object.fromEntries(others.map((name) => [`${name} rows`, `${up}/${name}/rows.ts`])),
    ...Object.fromEntries(runtimeEntryPoints.map((entry) => [`runtime${entry}`, `@bothost/runtime${entry}`])),
    'entry point of a driver': '@bothost/runtime/process',
    driver: '@bothost/runtime/dist/process/driver.js',
    ...Object.fromEntries(['config', 'settings', 'handlers', 'main'].map((name) => [`${name}.ts`, `${up}/${name}.ts`])),
    'source of another package': `${up}/../../cli/src/command.ts`,
  };
}

function runtimeTargets(folder: string): Record<string, string> {
  const depth = folder.split('/').length - 'packages/runtime/src'.split('/').length;
  const source = depth === 0 ? '.' : Array(depth).fill('..').join('/');
  return {
    ...packages,
    runtime: `${source}/runtime.ts`,
    'runtime/registry': `${source}/registry.ts`,
    'another driver': `${source}/docker/driver.ts`,
    server: '@bothost/server',
    'source of the server': `${source}/../../server/src/server.ts`,
  };
}

const cells = places.flatMap((folder) =>
  Object.entries(targets(folder)).flatMap(([target, source]) =>
    Object.entries(importStatementTemplates).map(([form, write]) => ({
      folder,
      target,
      isAllowed: rows.get(rowOf(folder))?.includes(target) || /^\.\/[\w.]+$/.test(source),
      file: `${isOfServer(folder) ? `${server}/` : ''}${folder}/planted-${target.replace(/\W/g, '-')}-${form}.ts`,
      text: write(source),
    })),
  ),
);

let findings: ReadonlyMap<string, LintFinding>;
beforeAll(() => {
  const files = Object.fromEntries(cells.map(({ file, text }) => [file, text]));
  findings = new Map(
    runLintOnSampleFiles(files)
      .filter(({ rule }) => rule === 'noRestrictedImports' || rule === 'plugin')
      .map((finding) => [finding.file, finding]),
  );
});

describe.each(places)('a file in the folder %s', (folder) => {
  const here = cells.filter((cell) => cell.folder === folder);

  it('may import only what the table in docs/architecture.md allows, with any form of import statement', () => {
    const passed = here.filter(({ file }) => !findings.has(file)).map(({ target }) => target);
    const expected = here.filter(({ isAllowed }) => isAllowed).map(({ target }) => target);
    expect(passed).toEqual(expected);
  });

  it('fails the lint for each forbidden import, with a message that names the rule', () => {
    const messages = here.flatMap(({ file }) => findings.get(file)?.message ?? []);
    const rule = messageFor(rowOf(folder));
    const known = [rule, /rows\.ts is private/, /no other package of ours/];
    expect(messages.filter((message) => !known.some((pattern) => pattern.test(message)))).toEqual([]);
    expect(messages.some((message) => rule.test(message))).toBe(true);
  });
});

it('packages/runtime/package.json exports no file of a driver', () => {
  const files = Object.values(runtimeManifest.exports).map((entry) => entry.default);
  expect(files.filter((file) => !/^\.\/dist\/[\w-]+\.js$/.test(file))).toEqual([]);
});

it('docs/architecture.md has a row for each server folder and lint rule, and names only existing folders', () => {
  const source = fileURLToPath(new URL(`../${server}`, import.meta.url));
  const present = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect([...rows.keys()].sort()).toEqual(tableRows.sort());
  expect(present.map(({ name }) => name).filter((name) => !rows.has(name))).toEqual([]);
  const targeted = new Set(cells.map(({ target }) => target));
  expect([...rows.values()].flat().filter((name) => !targeted.has(name))).toEqual([]);
});
