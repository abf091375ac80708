import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { importForms } from './import-forms.ts';
import { type Finding, lintPlantedFiles } from './planted.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

export type FolderTable = {
  /** The directory whose folders have rows. */
  readonly source: string;
  /** The document with the table, and the heading above it. */
  readonly document: string;
  readonly heading: string;
  /** Files beside the folders: no folder may import program files, and all may import ground files. */
  readonly programFiles: readonly string[];
  readonly groundFiles: readonly string[];
  /** A folder whose own folders have rows, too. */
  readonly nested?: string;
  /** Maps a subfolder that has no row to the folder whose row applies, for example `a/b` to `a`. */
  readonly deeper?: Readonly<Record<string, string>>;
  /** Returns what else a file in a folder could import: names in the table, and specifiers or paths from `source`. */
  readonly otherTargets?: (folder: string) => Readonly<Record<string, string>>;
};

/** Tests that the lint rules for a directory refuse what the rows of its table do not name: `folder`, contents, imports. */
export function describeFolderTable(table: FolderTable): void {
  const { source, nested, programFiles, groundFiles, deeper = {} } = table;
  const rows = readRows(table);
  const folders = [...rows.keys()];
  const inner = folders.filter((folder) => folder.includes('/'));
  const outer = folders.filter((folder) => !folder.includes('/'));

  /** Everything that a file in a folder could import, without the folder itself. */
  const targetsOf = (folder: string): Record<string, string> => {
    const siblings = folder.includes('/') ? [...outer.filter((name) => name !== nested), ...inner] : outer;
    return {
      ...table.otherTargets?.(folder),
      ...Object.fromEntries(siblings.filter((name) => name !== folder).map((name) => [name, `${name}/verb.ts`])),
      ...Object.fromEntries([...programFiles, ...groundFiles].map((name) => [name, name])),
    };
  };

  const places = [...folders.map((folder) => [folder, folder] as const), ...Object.entries(deeper)];
  const cells = places.flatMap(([place, folder]) =>
    Object.entries(targetsOf(folder)).flatMap(([target, to]) =>
      Object.entries(importForms).map(([form, write]) => ({
        place,
        target,
        isAllowed: rows.get(folder)?.includes(target) || groundFiles.includes(target),
        file: `${source}/${place}/planted-${target.replace(/\W/g, '-')}-${form}.ts`,
        text: write(to.startsWith('@') ? to : path.posix.relative(place, to)),
      })),
    ),
  );

  let findings: ReadonlyMap<string, Finding>;
  beforeAll(() => {
    const planted = lintPlantedFiles(Object.fromEntries(cells.map(({ file, text }) => [file, text])));
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
      expect([...messages]).toEqual([expect.stringContaining(`its row of the table in ${table.document}`)]);
    });
  });

  describe('the table', () => {
    const foldersIn = (directory: string) =>
      readdirSync(fileOf(directory), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [entry.name] : [],
      );

    it('has a row for every folder', () => {
      const present = foldersIn(source);
      if (nested !== undefined) present.push(...foldersIn(`${source}/${nested}`).map((name) => `${nested}/${name}`));
      expect(folders.sort()).toEqual(present.sort());
    });

    it('names only existing folders and files', () => {
      const known = new Set(cells.map(({ target }) => target));
      expect([...rows.values()].flat().filter((name) => !known.has(name))).toEqual([]);
    });

    it('covers every file beside the folders', () => {
      const files = readdirSync(fileOf(source)).filter((name) => /\.tsx?$/.test(name) && !/\.test\./.test(name));
      expect(files.sort()).toEqual([...programFiles, ...groundFiles].sort());
    });
  });
}

/** The rows of the table under the heading: a folder and all names that it may import. */
function readRows({ document, heading }: FolderTable): ReadonlyMap<string, readonly string[]> {
  const [, rest = ''] = readFileSync(fileOf(document), 'utf8').split(`${heading}\n`);
  const [section = ''] = rest.split('\n## ');
  const found = new Map<string, readonly string[]>();
  for (const [, folder = '', cell = ''] of section.matchAll(/^\| `([\w/-]+)\/` \| .+ \| (.+) \|$/gm)) {
    const names = (text: string) => [...text.matchAll(/`([\w/-]+?)\/?`/g)].map(([, name = '']) => name);
    const [, like = '', added = cell] = /^as `([\w/-]+)\/`(.*)$/.exec(cell) ?? [];
    found.set(folder, [...(found.get(like) ?? []), ...names(added)]);
  }
  return found;
}
