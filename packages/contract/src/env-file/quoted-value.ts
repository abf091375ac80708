const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

export type QuotedValue = {
  readonly value: string;
  readonly lines: number;
  readonly rest: string;
  readonly warnings: readonly string[];
};

/**
 * Parses a quoted value, which may span several lines. `from` is the index of its first line. `first` is the text of this line,
 * beginning with the opening quote. Escapes work only in double quotes, and every line break becomes a line feed. Returns null
 * if the quote is not closed.
 */
export function parseQuotedValue(
  lines: readonly string[],
  from: number,
  first: string,
  quote: '"' | "'",
): QuotedValue | null {
  const parts: string[] = [];
  let keepsBackslash = false;
  for (let index = from; index < lines.length; index += 1) {
    const line = index === from ? first : (lines[index] ?? '');
    let at = index === from ? 1 : 0;
    for (;;) {
      const stop = quote === "'" ? line.indexOf("'", at) : nextSpecialIndex(line, at);
      parts.push(line.slice(at, stop === -1 ? line.length : stop));
      if (stop === -1) break;
      if (line[stop] === quote) {
        const warnings = keepsBackslash ? ['a backslash before a character that cannot be escaped is kept'] : [];
        return { value: parts.join(''), lines: index - from + 1, rest: line.slice(stop + 1), warnings };
      }
      const escaped = escapes[line[stop + 1] ?? ''];
      keepsBackslash ||= escaped === undefined;
      parts.push(escaped ?? '\\');
      at = stop + (escaped === undefined ? 1 : 2);
    }
    parts.push('\n');
  }
  return null;
}

/** Returns the index of the next backslash or double quote, or -1. */
function nextSpecialIndex(line: string, from: number): number {
  const stops = [line.indexOf('"', from), line.indexOf('\\', from)].filter((at) => at !== -1);
  return stops.length === 0 ? -1 : Math.min(...stops);
}
