import type { PythonImport } from '../python/expression.ts';

export type PythonCode = { readonly lines: readonly string[]; readonly imports: readonly PythonImport[] };

export const emptyPythonCode: PythonCode = { lines: [], imports: [] };

/**
 * Creates Python code. Each argument after `lines` is either a module with names to import from it (`['module', 'Name',
 * 'Other']`) or a module to import (`['os']`).
 */
export function createPythonCode(
  lines: readonly string[],
  ...imports: readonly (readonly [string, ...string[]])[]
): PythonCode {
  return {
    lines,
    imports: imports.flatMap(([module, ...names]) =>
      names.length === 0 ? [{ module }] : names.map((name) => ({ module, name })),
    ),
  };
}

/** Joins parts of Python code, separated by `gap` empty lines. Skips empty parts. */
export function joinPythonCode(parts: readonly PythonCode[], gap: number): PythonCode {
  const full = parts.filter(({ lines }) => lines.length > 0);
  const space = Array.from({ length: gap }, () => '');
  return {
    lines: full.flatMap(({ lines }, index) => (index === 0 ? lines : [...space, ...lines])),
    imports: parts.flatMap(({ imports }) => imports),
  };
}

/** Converts a string to a Python literal, with the quotes that need fewer escapes, as formatters do. */
export function toPythonString(text: string): string {
  const double = text.split('"').length;
  const single = text.split("'").length;
  if (double <= single) return JSON.stringify(text);
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

export function escapeDocstring(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
