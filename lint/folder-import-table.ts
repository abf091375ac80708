import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { importStatementTemplates } from './import-forms.ts';
import { type LintFinding, runLintOnSampleFiles } from './run-lint-on-sample-files.ts';

const fileOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

export type FolderImportTable = {
  /** The directory that the table describes, with one row for each subfolder. */
  readonly source: string;
  /** Path of the Markdown document that contains the table, and the heading above the table. */
  readonly document: string;
  readonly heading: string;
  /**
   * Names of the files directly in `source`. No subfolder may import the files in `programFiles`. Every subfolder may import
   * the files in `groundFiles`.
   */
  readonly programFiles: readonly string[];
  readonly groundFiles: readonly string[];
  /** A folder in `source` whose subfolders also have rows in the table. */
  readonly nested?: string;
  /** Subfolders without a row, each with the folder whose row applies to it, for example `a/b` with `a`. */
  readonly deeper?: Readonly<Record<string, string>>;
  /**
   * Returns further targets that the tests try to import from `folder`, in addition to the files and subfolders of `source`.
   * Each key is the target's name in the table's column of allowed imports. Each value is the target itself: the name of a
   * package, or the path of a file relative to `source`.
   */
  readonly otherTargets?: (folder: string) => Readonly<Record<string, string>>;
};

/**
 * Defines tests for a directory's lint rules: they must refuse every import that the table does not allow. The columns of the
 * table are folder, contents and allowed imports.
 */
export function defineFolderImportTests(table: FolderImportTable): void {
  const { source, nested, programFiles, groundFiles, deeper = {} } = table;
  const rows = readRows(table);
  const folders = [...rows.keys()];
  const inner = folders.filter((folder) => folder.includes('/'));
  const outer = folders.filter((folder) => !folder.includes('/'));

  /** Returns everything that a file in `folder` could import, except the folder itself. */
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
      Object.entries(importStatementTemplates).map(([form, write]) => ({
        place,
        target,
        isAllowed: rows.get(folder)?.includes(target) || groundFiles.includes(target),
        file: `${source}/${place}/planted-${target.replace(/\W/g, '-')}-${form}.ts`,
        text: write(to.startsWith('@') ? to : path.posix.relative(place, to)),
      })),
    ),
  );

  let findings: ReadonlyMap<string, LintFinding>;
  beforeAll(() => {
    const planted = runLintOnSampleFiles(Object.fromEntries(cells.map(({ file, text }) => [file, text])));
    findings = new Map(planted.filter(({ rule }) => rule === 'plugin').map((finding) => [finding.file, finding]));
  });

  describe.each(places)('a file in the folder %s', (place) => {
    const here = cells.filter((cell) => cell.place === place);

    it('may import only what its row of the table allows, with any form of import statement', () => {
      const passed = here.filter(({ file }) => !findings.has(file)).map(({ target }) => target);
      expect(passed).toEqual(here.filter(({ isAllowed }) => isAllowed).map(({ target }) => target));
    });

    it('fails the lint for each forbidden import, with a message that names the table', () => {
      const messages = new Set(here.flatMap(({ file }) => findings.get(file)?.message ?? []));
      expect([...messages]).toEqual([expect.stringContaining(`its row of the table in ${table.document}`)]);
    });
  });

  describe('the dependency table', () => {
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

    it('covers every file that is directly in the source directory', () => {
      const files = readdirSync(fileOf(source)).filter((name) => /\.tsx?$/.test(name) && !/\.test\./.test(name));
      expect(files.sort()).toEqual([...programFiles, ...groundFiles].sort());
    });
  });
}

/** Returns the rows of the table under the heading: each folder with all names that it may import. */
function readRows({ document, heading }: FolderImportTable): ReadonlyMap<string, readonly string[]> {
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
