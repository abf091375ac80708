/** The escapes of python-dotenv. In single quotes, it knows only `\\` and `\'`. */
const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
/** `${NAME}` or `${NAME:-default}`, which python-dotenv replaces in every kind of value. */
const variable = /\$\{[^}:]*(?::-[^}]*)?\}/;

/**
 * Says why python-dotenv, with which bots read the same file on a developer's machine, gives a value other than `stored`. Null if
 * it gives the same value. `text` is the file from the character after the first `=` of the assignment, with line feeds only.
 *
 * Follows `dotenv/parser.py` and `dotenv/variables.py` of the versions 1.2.2 and 1.2.4, because a bot can have either. Version 1.2.4
 * takes no comment as the value any more.
 */
export function explainPythonDotenvDifference(text: string, stored: string): string | null {
  const rest = text.replace(/^[^\S\n]+/, '');
  const quote = rest.charAt(0);
  const readings =
    quote === '"' || quote === "'"
      ? quotedValues[quote].map((pattern) => readQuoted(rest, pattern))
      : [readUnquoted(rest)];
  return readings.map((value) => explain(value, stored)).find((reason) => reason !== null) ?? null;
}

/** The patterns of quoted values: up to version 1.2.3, and later. */
const quotedValues = {
  '"': [/^"((?:\\"|[^"])*)"/, /^"((?:\\.|[^"\\])*)"/s],
  "'": [/^'((?:\\'|[^'])*)'/, /^'((?:\\.|[^'\\])*)'/s],
} as const;

function explain(value: string | null, stored: string): string | null {
  if (value === null) return 'python-dotenv ignores this line';
  if (stored === '' && value !== '') return 'python-dotenv takes the comment as the value';
  if (variable.test(value)) return 'python-dotenv replaces variables in this value, which are kept here';
  if (value === stored) return null;
  return value.includes('\\') || stored.includes('\\')
    ? 'python-dotenv treats a backslash in this value in another way'
    : 'python-dotenv reads another value';
}

function readQuoted(rest: string, pattern: RegExp): string | null {
  const [whole = '', content] = pattern.exec(rest) ?? [];
  if (content === undefined || !/^[^\S\n]*(?:#[^\n]*)?(?:\n|$)/.test(rest.slice(whole.length))) return null;
  const escaped = rest.startsWith('"') ? /\\([\\'"abfnrtv])/g : /\\([\\'])/g;
  return content.replace(escaped, (_, name: string) => escapes[name] ?? name);
}

function readUnquoted(rest: string): string {
  const end = rest.indexOf('\n');
  const line = end === -1 ? rest : rest.slice(0, end);
  const comment = /\s#/.exec(line);
  return line.slice(0, comment?.index ?? line.length).trimEnd();
}
