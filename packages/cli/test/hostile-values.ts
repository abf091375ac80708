import fc from 'fast-check';

/** Pieces at which readers of values fail. */
const pieces = [
  ...['#', ' #', '\t#', '"', "'", '`', '\\', '\\n', '\\"', '\\@', '$', '${', '$(', '=', ' ', '\t', '@', '-', ',', '%'],
  ...['\n', '\r', '\r\n', '\nB=1', ' B=', 'export ', 'A=', '"""', "'\n'", '-----BEGIN KEY-----\n', '{"k":"v#1"}'],
  ...['\u00a0', '\u2028', '\u{feff}', 'é', '😀', '\u202e', '\u0001', '\u001b[2J', '\u007f', '\u0085', '__proto__'],
];

/** Values that an environment can carry, hostile ones above all. */
export const hostileValue: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 4 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(''))
  .filter((text) => text !== '' && !text.includes('\0'));

/** So many of them that fit, the same ones for the same seed. */
export function sampleValues(count: number, seed: number, fits: (value: string) => boolean): readonly string[] {
  return fc.sample(hostileValue.filter(fits), { numRuns: count, seed });
}

/**
 * Writes a value into a line of a file, in each of the ways that can hold it; none when no way can. This and what follows
 * share nothing with the readers.
 */
export function fileForms(value: string): readonly string[] {
  if (/(?![\t\n\r])\p{Cc}/u.test(value)) return [];
  const double = value.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r');
  const escaped = double.replaceAll('\t', '\\t').replaceAll('$', '\\$');
  return [
    `"${double}"`,
    `"${double.replaceAll('\n', '\\n')}"`,
    `"${escaped}"`,
    ...(/['\r]/.test(value) ? [] : [`'${value}'`]),
    ...(/[\n\r]|^["'#]|[ \t]#|^[ \t]|[ \t]$/.test(value) ? [] : [value]),
  ];
}

/** Writes a value behind `KEY=` as an argument of its own; null where that could be meant in another way, too. */
export function argumentForm(value: string): string | null {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  if (/\s[A-Za-z0-9_-]+=|\ufffd/.test(value) || isQuoted) return null;
  const bare = value.replace(/^\\+/, '');
  return bare.startsWith('@') || bare === '-' ? `\\${value}` : value;
}
