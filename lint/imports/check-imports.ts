import { posix } from 'node:path';
import { type ImportArea, type ImportRow, importAreas } from './allowed-imports.ts';
import { type Import, readImports } from './read-imports.ts';

type Place = { readonly area: ImportArea; readonly row: ImportRow };

/** Returns a message for each import that the tables do not allow, and for each file that has no row. */
export function checkImports(texts: ReadonlyMap<string, string>): readonly string[] {
  return [...texts].flatMap(([path, text]) => {
    const place = findPlace(path);
    if (place === undefined) return [`${path} belongs to no row of lint/imports/allowed-imports.ts.`];
    return readImports(path, text).flatMap((imported) => {
      const problem = findProblem(place, imported);
      return problem === null ? [] : [`${path} imports ${imported.target ?? 'a computed path'}: ${problem}`];
    });
  });
}

function findProblem({ area, row }: Place, { target, isPath, isType, isDynamic }: Import): string | null {
  if (target === null) {
    return area.root === '' ? null : 'write the path as one literal, so that it can be checked.';
  }
  if (!isPath && !isOwnPackage(target)) {
    const isAllowed = area.libraries?.includes(target) ?? true;
    return isAllowed ? null : `"${area.title}" may import no other library than ${area.libraries?.join(', ')}.`;
  }
  const place = isPath ? findPlace(target) : undefined;
  if (place?.row === row) return null;
  if (place?.area === area && area.privateFiles?.test(target)) return 'the file is private to its folder.';
  if (isDynamic && row.mayLoad?.some((name) => isNamed(target, name, area))) return null;
  const where = `its row "${row.files[0]}" of "${area.title}" in lint/imports/allowed-imports.ts`;
  if (!listAllowed(area, row).some((name) => isNamed(target, name, area))) return `${where} does not allow it.`;
  return row.typesOnly && !isType ? `${where} allows types only.` : null;
}

/** Returns everything that a row allows, with what the whole area shares and what another row allows. */
function listAllowed(area: ImportArea, row: ImportRow): readonly string[] {
  const { shared = [] } = area;
  const { as, mayImport = [] } = row;
  if (as === undefined) return [...shared, ...mayImport];
  const other = area.rows.find(({ files }) => files[0] === as);
  if (other === undefined) throw new Error(`"${area.title}" has no row "${as}".`);
  return [...listAllowed(area, other), ...mayImport];
}

/** Returns the row that a file belongs to. */
export function findPlace(file: string): Place | undefined {
  const path = toTablePath(file);
  const area = findLongest(importAreas, ({ root }) => (path.startsWith(root) ? root.length : null));
  if (area === null) return undefined;
  const relative = path.slice(area.root.length);
  const row = findLongest(area.rows, ({ files }) => {
    const name = files.find((name) => contains(name, relative));
    return name?.length ?? null;
  });
  return row === null ? undefined : { area, row };
}

/** Returns the path by which a file is found in the tables: a test beside the source counts as one in its package's `test/`. */
export function toTablePath(file: string): string {
  return file.replace(/^(packages\/[\w-]+)\/src\/(.*\.test\.tsx?)$/, '$1/test/$2');
}

/** Says whether a path is in a folder or is a file, as a row names them. */
function contains(name: string, path: string): boolean {
  if (name === '*') return !path.includes('/');
  return name.endsWith('/') ? path.startsWith(name) : path === name;
}

function findLongest<T>(items: readonly T[], lengthOf: (item: T) => number | null): T | null {
  const matching = items.flatMap((item) => {
    const length = lengthOf(item);
    return length === null ? [] : [{ item, length }];
  });
  return matching.sort((a, b) => b.length - a.length)[0]?.item ?? null;
}

/** Says whether a name in the table of an area means a target: a path in the repository, or a package. */
export function isNamed(target: string, name: string, area: ImportArea): boolean {
  if (name.endsWith('/*')) return new RegExp(`^${name.slice(0, -2)}(?:/[\\w-]+)?$`).test(target);
  if (name.startsWith('@')) return target === name;
  if (name === '*') return findPlace(target)?.row.files[0] === '*' && target.startsWith(area.root);
  return contains(posix.join(area.root, name), target);
}

const isOwnPackage = (specifier: string) => /^(?:@bothost\/|botcli(?:\/|$))/.test(specifier);

/** Returns one path from each group of nodes that reach each other, as a text: `a -> b -> a`. */
function findCycles(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const cycles: string[] = [];
  const finished = new Set<string>();
  const visit = (node: string, trail: readonly string[]) => {
    const start = trail.indexOf(node);
    if (start >= 0) cycles.push([...trail.slice(start), node].join(' -> '));
    if (start >= 0 || finished.has(node)) return;
    for (const next of edges.get(node) ?? []) visit(next, [...trail, node]);
    finished.add(node);
  };
  for (const node of edges.keys()) visit(node, []);
  return cycles;
}

/** Returns the cycles of files that import each other, also where they import only types. */
export function findFileCycles(texts: ReadonlyMap<string, string>): readonly string[] {
  const edges = [...texts].map(([path, text]) => {
    const targets = readImports(path, text).map(({ target }) => target ?? '');
    return [path, targets.filter((target) => texts.has(target))] as const;
  });
  return findCycles(new Map(edges));
}

/** Returns the cycles that the rows of an area would allow. A row of types only does not count. */
export function findRowCycles(area: ImportArea): readonly string[] {
  const rows = area.rows.filter(({ typesOnly }) => !typesOnly);
  const edges = rows.map((row) => {
    const allowed = listAllowed(area, row);
    const targets = rows.filter(({ files }) =>
      files.some((file) => allowed.some((name) => isNamed(posix.join(area.root, file), name, area))),
    );
    return [row.files[0], targets.filter((target) => target !== row).map(({ files }) => files[0])] as const;
  });
  return findCycles(new Map(edges));
}
