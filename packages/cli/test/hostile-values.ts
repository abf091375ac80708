import fc from 'fast-check';

/** Fragments of text that parsers often handle incorrectly. Each hostile value is joined from such fragments. */
const pieces = [
  ...['#', ' #', '\t#', '"', "'", '`', '\\', '\\n', '\\"', '\\@', '$', '${', '$(', '=', ' ', '\t', '@', '-', ',', '%'],
  ...['\n', '\r', '\r\n', '\nB=1', ' B=', 'export ', 'A=', '"""', "'\n'", '-----BEGIN KEY-----\n', '{"k":"v#1"}'],
  ...['\u00a0', '\u2028', '\u{feff}', 'é', '😀', '\u202e', '\u0001', '\u001b[2J', '\u007f', '\u0085', '__proto__'],
];

/** Generates valid values of environment variables. Most contain text that parsers often handle incorrectly. */
export const hostileValueArbitrary: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 4 })), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join(''))
  .filter((text) => text !== '' && !text.includes('\0'));

/**
 * Returns all ways to write a value in an .env file, or none if the format cannot express the value. Shares no code with the
 * parser.
 */
export function listEnvFileValueEncodings(value: string): readonly string[] {
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

/**
 * Returns the text that represents `value` after `KEY=` in a command-line argument, or null if the argument would be ambiguous.
 */
export function formatArgumentValue(value: string): string | null {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  if (/\s[A-Za-z0-9_-]+=|\ufffd/.test(value) || isQuoted) return null;
  const bare = value.replace(/^\\+/, '');
  return bare.startsWith('@') || bare === '-' ? `\\${value}` : value;
}
