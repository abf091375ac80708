import { type ImportArea, type ImportRow, importAreas } from './allowed-imports.ts';

/** Returns the text of docs/imports.md. */
export function describeImports(): string {
  return [
    '# Which file may import which',
    '',
    '`lint/imports/imports.test.ts` generates this page from `lint/imports/allowed-imports.ts`, and checks every import. A file belongs',
    'to the row with its longest path, and may import the files of this row, what the row names, and what the whole table shares. A',
    'folder includes its subfolders, except those with a row of their own. `*` means the files directly in the folder of the table.',
    'No files import each other in a cycle.',
    '',
    importAreas.map(describeArea).join('\n\n'),
    '',
  ].join('\n');
}

function describeArea({ title, root, description, shared = [], libraries, rows }: ImportArea): string {
  const sentences = [
    description,
    root === '' ? '' : `Paths are relative to \`${root}\`.`,
    shared.length === 0 ? '' : `Every row may import ${quote(shared)}.`,
    libraries === undefined ? '' : `The only library is ${quote(libraries)}; no module of Node.js may be imported.`,
  ];
  return [
    `## ${title}`,
    '',
    sentences.filter((sentence) => sentence !== '').join('\n'),
    '',
    '| files | contain | may import |',
    '|---|---|---|',
    ...rows.map((row) => `| ${quote(row.files)} | ${row.contain} | ${describeAllowed(row)} |`),
  ].join('\n');
}

function describeAllowed({ as, mayImport = [], mayLoad = [], typesOnly }: ImportRow): string {
  const parts = [
    as === undefined ? '' : `as \`${as}\``,
    quote(mayImport),
    mayLoad.length === 0 ? '' : `with \`await import\`: ${quote(mayLoad)}`,
    typesOnly ? 'types only' : '',
  ];
  return parts.filter((part) => part !== '').join('; ') || 'nothing else';
}

const quote = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
