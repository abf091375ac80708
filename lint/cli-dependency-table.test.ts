import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { importForms } from './import-forms.ts';
import { type Finding, lintPlanted } from './planted.ts';

const source = 'packages/cli/src';
const fileOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** The rows of the tables under "The command line": a folder and all names that it may import. */
const rows: ReadonlyMap<string, readonly string[]> = (() => {
  const [, section = ''] = readFileSync(fileOf('docs/architecture.md'), 'utf8').split('## The command line\n');
  const found = new Map<string, readonly string[]>();
  for (const [, folder = '', cell = ''] of section.matchAll(/^\| `([\w/-]+)\/` \| .+ \| (.+) \|$/gm)) {
    const names = (text: string) => [...text.matchAll(/`([\w/-]+?)\/?`/g)].map(([, name = '']) => name);
    const [, like = '', rest = cell] = /^as `([\w/-]+)\/`(.*)$/.exec(cell) ?? [];
    found.set(folder, [...(found.get(like) ?? []), ...names(rest)]);
  }
  return found;
})();

const folders = [...rows.keys()];
const outer = folders.filter((folder) => !folder.includes('/'));
const inner = folders.filter((folder) => folder.includes('/'));
const programFiles = ['main', 'program', 'commands', 'find-command', 'help', 'suggest-words'];
const groundFiles = ['config', 'failure', 'version'];

/** Rules must also apply in subfolders. */
const deeper: Readonly<Record<string, string>> = {
  'commands/cloud/agent': 'commands',
  'scaffold/catalogue/vendors': 'scaffold/catalogue',
};

/** Everything that a file in a folder could import, by its path from `packages/cli/src/`, without the folder itself. */
function targetsOf(folder: string): Record<string, string> {
  const siblings = folder.startsWith('scaffold/') ? [...outer.filter((name) => name !== 'scaffold'), ...inner] : outer;
  const initFiles = folder.startsWith('scaffold/') ? ['scaffold/init', 'scaffold/make-project'] : [];
  return {
    'packages/contract': '@bothost/contract',
    ...Object.fromEntries(siblings.filter((name) => name !== folder).map((name) => [name, `${name}/verb.ts`])),
    ...Object.fromEntries([...programFiles, ...groundFiles, ...initFiles].map((name) => [`${name}.ts`, `${name}.ts`])),
  };
}

const places = [...folders.map((folder) => [folder, folder] as const), ...Object.entries(deeper)];
const cells = places.flatMap(([place, folder]) =>
  Object.entries(targetsOf(folder)).flatMap(([target, to]) =>
    Object.entries(importForms).map(([form, write]) => ({
      place,
      target,
      isAllowed: rows.get(folder)?.includes(target) || groundFiles.some((name) => target === `${name}.ts`),
      file: `${source}/${place}/planted-${target.replace(/\W/g, '-')}-${form}.ts`,
      text: write(to.startsWith('@') ? to : path.posix.relative(place, to)),
    })),
  ),
);

let findings: ReadonlyMap<string, Finding>;
beforeAll(() => {
  const planted = lintPlanted(Object.fromEntries(cells.map(({ file, text }) => [file, text])));
  findings = new Map(planted.filter(({ rule }) => rule === 'plugin').map((finding) => [finding.file, finding]));
});

describe.each(places)('a file in %s,', (place) => {
  const here = cells.filter((cell) => cell.place === place);

  it('may import only what the table names, in every form', () => {
    const passed = here.filter(({ file }) => !findings.has(file)).map(({ target }) => target);
    expect(passed).toEqual(here.filter(({ isAllowed }) => isAllowed).map(({ target }) => target));
  });

  it('names the table in the message of a refused import', () => {
    const messages = new Set(here.flatMap(({ file }) => findings.get(file)?.message ?? []));
    expect([...messages]).toEqual([expect.stringContaining('its row of the table in docs/architecture.md')]);
  });
});

describe('the table', () => {
  const foldersIn = (directory: string) =>
    readdirSync(fileOf(directory), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );

  it('has a row for every folder', () => {
    const present = [...foldersIn(source), ...foldersIn(`${source}/scaffold`).map((name) => `scaffold/${name}`)];
    expect([...folders].sort()).toEqual(present.sort());
  });

  it('names only existing folders and files', () => {
    const known = new Set(cells.map(({ target }) => target));
    expect([...rows.values()].flat().filter((name) => !known.has(name))).toEqual([]);
  });

  it('has a row for every file beside the folders', () => {
    const files = readdirSync(fileOf(source)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
    expect(files.sort()).toEqual([...programFiles, ...groundFiles].map((name) => `${name}.ts`).sort());
  });
});
