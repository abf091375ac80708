import type { Import } from '../python/expression.ts';

/** Lines of Python and what they import. Parts are put together in the order of the file. */
export type Code = { readonly lines: readonly string[]; readonly imports: readonly Import[] };

export const nothing: Code = { lines: [], imports: [] };

/** `code(lines, ['module', 'Name', 'Other'], ['os'])`: each list is a module and the names of it, or the module alone. */
export function code(lines: readonly string[], ...imports: readonly (readonly [string, ...string[]])[]): Code {
  return {
    lines,
    imports: imports.flatMap(([module, ...names]) =>
      names.length === 0 ? [{ module }] : names.map((name) => ({ module, name })),
    ),
  };
}

/** One after the other; `gap` empty lines between those that have any lines. */
export function join(parts: readonly Code[], gap: number): Code {
  const full = parts.filter(({ lines }) => lines.length > 0);
  const space = Array.from({ length: gap }, () => '');
  return {
    lines: full.flatMap(({ lines }, index) => (index === 0 ? lines : [...space, ...lines])),
    imports: parts.flatMap(({ imports }) => imports),
  };
}

/** A text as a Python string, in the quotes of which fewer have to be escaped; a formatter chooses the same. */
export function literal(text: string): string {
  const double = text.split('"').length;
  const single = text.split("'").length;
  if (double <= single) return JSON.stringify(text);
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** A text within a docstring: it can neither end it nor escape anything. */
export function docstring(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
