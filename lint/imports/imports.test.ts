import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listTrackedFiles, repositoryRoot } from '../prose/tracked-files.ts';
import { findAccountTests, listAccountTests } from './account-tests.ts';
import { importAreas } from './allowed-imports.ts';
import { checkImports, findFileCycles, findPlace, findRowCycles, isNamed, toTablePath } from './check-imports.ts';
import { describeImports } from './imports-document.ts';

const paths = listTrackedFiles(['ts', 'tsx', 'js', 'mjs', 'cjs', 'css', 'json', 'html', 'py']);
const modules = paths.filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !path.startsWith('packages/cli/templates/'));
const tablePaths = paths.map(toTablePath);
const texts = new Map(modules.map((path) => [path, readFileSync(join(repositoryRoot, path), 'utf8')]));

describe('the sources', () => {
  it('import only what lint/imports/allowed-imports.ts allows', () => {
    expect(checkImports(texts)).toEqual([]);
  });

  it('have no cycles of imports', () => {
    expect(findFileCycles(texts)).toEqual([]);
  });
});

describe.each(importAreas)('the table "$title"', (area) => {
  it('has only rows with files', () => {
    const used = new Set(paths.map((path) => findPlace(path)?.row));
    expect(area.rows.filter((row) => !used.has(row))).toEqual([]);
  });

  it('names only existing files and folders', () => {
    const rows = area.rows.flatMap(({ files, mayImport = [], mayLoad = [] }) => [...files, ...mayImport, ...mayLoad]);
    const names = [...(area.shared ?? []), ...rows].filter((name) => !name.startsWith('@'));
    expect(names.filter((name) => !tablePaths.some((path) => isNamed(path, name, area)))).toEqual([]);
  });

  it('allows no cycle of rows', () => {
    expect(findRowCycles(area)).toEqual([]);
  });
});

it('packages/runtime/package.json exports no file of a driver', () => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'packages/runtime/package.json'), 'utf8'));
  const { exports } = manifest as { exports: Record<string, { default: string }> };
  const files = Object.values(exports).map((entry) => entry.default);
  expect(files.filter((file) => !/^\.\/dist\/[\w-]+\.js$/.test(file))).toEqual([]);
});

it('docs/imports.md contains the tables', async () => {
  await expect(describeImports()).toMatchFileSnapshot(join(repositoryRoot, 'docs/imports.md'));
});

describe('checkImports', () => {
  const server = 'packages/server/src';
  const row = /its row ".*" of ".*" in lint\/imports\/allowed-imports\.ts does not allow it/;

  it.each([
    ['an import', "import { plan } from '../reconciler/plan.ts';"],
    ['an import for side effects', "import '../reconciler/plan.ts';"],
    ['an import of a type', "import type { Plan } from '../reconciler/plan.ts';"],
    ['a dynamic import', "export const plan = await import('../reconciler/plan.ts');"],
    ['a dynamic import of a template literal', 'export const plan = await import(`../reconciler/plan.ts`);'],
    ['an export from', "export { plan } from '../reconciler/plan.ts';"],
    ['an export of everything', "export * from '../reconciler/plan.ts';"],
  ])('finds %s that the row does not allow', (_, text) => {
    expect(checkImports(new Map([[`${server}/store/sample.ts`, text]]))).toEqual([expect.stringMatching(row)]);
  });

  it.each([
    ['a new folder', `${server}/billing/sample.ts`],
    ['a new file beside the program', `${server}/sample.ts`],
    ['a new package', 'packages/billing/src/sample.ts'],
    ['a new driver', 'packages/runtime/src/nomad/sample.ts'],
  ])('finds %s without a row', (_, path) => {
    expect(checkImports(new Map([[path, 'export {};']]))).toEqual([expect.stringContaining('belongs to no row')]);
  });

  it.each([
    ['a file of a new folder', `${server}/store/sample.ts`, '../billing/sample.ts', row],
    ['rows of another folder', `${server}/handlers.ts`, './sessions/rows.ts', /private to its folder/],
    ['a test', `${server}/store/sample.ts`, './database.test.ts', row],
    ['support of tests', `${server}/store/sample.ts`, '../../test/support/test-server.ts', row],
    ['an interface entry point that is not listed', `${server}/agents/sample.ts`, '@bothost/runtime/registry', row],
    ['the inside of a package', `${server}/agents/sample.ts`, '@bothost/contract/dist/limits.js', row],
    ['another package by its path', 'packages/dashboard/src/logs/sample.ts', '../../../server/src/main.ts', row],
    ['the server, in the command line', 'packages/cli/src/deploy/sample.ts', '@bothost/server', row],
    ['the command line, in the dashboard', 'packages/dashboard/src/logs/sample.ts', 'botcli', row],
    ['the server, in tests of the runtime', 'packages/runtime/src/sample.test.ts', '../../server/src/main.ts', row],
    ['the contract, in an example', 'examples/parrot/src/sample.ts', '@bothost/contract', row],
    ['a library, in the contract', 'packages/contract/src/sample.ts', 'uuid', /no other library than zod/],
    ['Node.js, in the contract', 'packages/contract/src/sample.ts', 'node:fs', /no other library than zod/],
    ['a driver without await import', 'packages/runtime/src/registry.ts', './process/machine.ts', row],
    ['a value where types are allowed', `${server}/context.ts`, './store/database.ts', /allows types only/],
  ])('finds an import of %s', (_, path, target, message) => {
    const found = checkImports(new Map([[path, `import { sample } from '${target}';`]]));
    expect(found).toEqual([expect.stringMatching(message)]);
  });

  it('finds an import of a computed path', () => {
    const found = checkImports(new Map([[`${server}/main.ts`, "await import('./' + name);"]]));
    expect(found).toEqual([expect.stringContaining('write the path as one literal')]);
  });

  it.each([
    ['own files', `${server}/builds/sample.ts`, './rows.ts'],
    ['files of a row that another row allows', `${server}/sessions/sample.ts`, '../store/database.ts'],
    ['zod, in the contract', 'packages/contract/src/operations/sample.ts', 'zod'],
    ['any library, elsewhere', `${server}/store/sample.ts`, 'pg'],
    ['the source of its package, in a test', `${server}/store/sample.test.ts`, './database.ts'],
  ])('allows an import of %s', (_, path, target) => {
    expect(checkImports(new Map([[path, `import { sample } from '${target}';`]]))).toEqual([]);
  });

  it('allows a dynamic import of a driver in the registry', () => {
    const text = "export const open = () => import('./process/machine.ts');";
    expect(checkImports(new Map([['packages/runtime/src/registry.ts', text]]))).toEqual([]);
  });
});

describe('findFileCycles', () => {
  it.each([
    ['values', "import { b } from './b.ts';", "import { a } from './a.ts';"],
    ['types', "import type { B } from './b.ts';", "import type { A } from './a.ts';"],
    ['a dynamic import', "await import('./b.ts');", "import type { A } from './a.ts';"],
  ])('finds two files that import each other with %s', (_, first, second) => {
    const files = { 'lint/a.ts': first, 'lint/b.ts': second };
    expect(findFileCycles(new Map(Object.entries(files)))).toEqual(['lint/a.ts -> lint/b.ts -> lint/a.ts']);
  });
});

describe('findRowCycles', () => {
  it('finds two rows that allow each other', () => {
    const rows = [
      { files: ['a/'], contain: 'a', mayImport: ['b/'] },
      { files: ['b/'], contain: 'b', mayImport: ['a/'] },
    ] as const;
    expect(findRowCycles({ title: 'sample', description: '', root: 'sample/', rows })).toEqual(['a/ -> b/ -> a/']);
  });
});

describe('findAccountTests', () => {
  it.each([
    ['a file system', "import { readFile } from 'node:fs/promises';"],
    ['processes', "import { spawn } from 'node:child_process';"],
    ['a database', "import pg from 'pg';"],
    ['its user id', 'process.geteuid();'],
  ])('finds a test that reaches %s through other modules', (_, text) => {
    const files = {
      'packages/runtime/src/registry.ts': text,
      'packages/server/src/a.ts': "export const open = () => import('@bothost/runtime/registry');",
      'packages/server/src/a.test.ts': "import { open } from './a.ts';",
    };
    expect(findAccountTests(new Map(Object.entries(files)))).toEqual(['packages/server/src/a.test.ts']);
  });

  it('omits a test that only computes, or imports only types', () => {
    const files = {
      'packages/server/src/a.ts': "import { readFile } from 'node:fs/promises';",
      'packages/server/src/a.test.ts': "import type { A } from './a.ts';\nimport { b } from './b.ts';",
      'packages/server/src/b.ts': "import { z } from 'zod';",
    };
    expect(findAccountTests(new Map(Object.entries(files)))).toEqual([]);
  });

  it('finds tests of the database and of the driver, and omits tests of pure functions and of most requests', () => {
    const found = listAccountTests();
    expect(found).toContain('packages/server/test/api/accounts.test.ts');
    expect(found).not.toContain('packages/server/test/api/keys.test.ts');
    expect(found).toContain('packages/server/src/organizations/keys.test.ts');
    expect(found).toContain('packages/runtime/test/process/conformance.test.ts');
    expect(found).not.toContain('packages/server/src/reconciler/plan.test.ts');
  });
});
