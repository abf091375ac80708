import type { Import } from '../python/expression.ts';

/** Lines of Python with their imports. */
export type Code = { readonly lines: readonly string[]; readonly imports: readonly Import[] };

export const nothing: Code = { lines: [], imports: [] };

/** `code(lines, ['module', 'Name', 'Other'], ['os'])`: each list is a module and names to import from it, or a module to import. */
export function code(lines: readonly string[], ...imports: readonly (readonly [string, ...string[]])[]): Code {
  return {
    lines,
    imports: imports.flatMap(([module, ...names]) =>
      names.length === 0 ? [{ module }] : names.map((name) => ({ module, name })),
    ),
  };
}

/** Joins the non-empty parts in order, with `gap` empty lines between them. */
export function join(parts: readonly Code[], gap: number): Code {
  const full = parts.filter(({ lines }) => lines.length > 0);
  const space = Array.from({ length: gap }, () => '');
  return {
    lines: full.flatMap(({ lines }, index) => (index === 0 ? lines : [...space, ...lines])),
    imports: parts.flatMap(({ imports }) => imports),
  };
}

/** A text as a Python string, with the quotes that need fewer escapes, like a formatter. */
export function literal(text: string): string {
  const double = text.split('"').length;
  const single = text.split("'").length;
  if (double <= single) return JSON.stringify(text);
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** Escapes a text for a docstring. */
export function docstring(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
}
