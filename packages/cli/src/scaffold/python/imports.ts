import { maxLineLength, type PythonImport } from './expression.ts';

/** Modules of Python's standard library that generated files use. */
const standardLibrary: ReadonlySet<string> = new Set([
  'asyncio',
  'collections.abc',
  'datetime',
  'os',
  'typing',
  'pathlib',
  'wave',
  'xml.sax.saxutils',
]);

/** Formats the imports of a file as `ruff check --select I` requires: the standard library first, and `import` before `from`. */
export function formatImportBlock(imports: readonly PythonImport[]): readonly string[] {
  const own = imports.filter(({ module }) => standardLibrary.has(module));
  const others = imports.filter(({ module }) => !standardLibrary.has(module));
  const groups = [section(own), section(others)].filter((lines) => lines.length > 0);
  return groups.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function section(imports: readonly PythonImport[]): readonly string[] {
  const names = new Map<string, Set<string>>();
  const modules = new Set<string>();
  for (const { module, name } of imports) {
    if (name === undefined) modules.add(module);
    else names.set(module, (names.get(module) ?? new Set()).add(name));
  }
  return [
    ...[...modules].sort(byCharacter).map((module) => `import ${module}`),
    ...[...names].sort(([a], [b]) => byCharacter(a, b)).flatMap(([module, found]) => fromImport(module, [...found])),
  ];
}

function fromImport(module: string, names: readonly string[]): readonly string[] {
  const sorted = [...names].sort((a, b) => rank(a) - rank(b) || byCharacter(a, b));
  const line = `from ${module} import ${sorted.join(', ')}`;
  if (line.length <= maxLineLength) return [line];
  return [`from ${module} import (`, ...sorted.map((name) => `    ${name},`), ')'];
}

/** Returns the rank of an imported name, by which names are sorted: constants first, then classes, then all other names. */
function rank(name: string): number {
  if (name.length > 1 && name === name.toUpperCase()) return 0;
  return /^[A-Z]/.test(name) ? 1 : 2;
}

function byCharacter(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
