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
 * Follows `parse_value` of python-dotenv 1.x, `dotenv/parser.py`, and `dotenv/variables.py`.
 */
export function explainPythonDotenvDifference(text: string, stored: string): string | null {
  const rest = text.replace(/^[^\S\n]+/, '');
  const value = rest.startsWith('"') || rest.startsWith("'") ? readQuoted(rest) : readUnquoted(rest);
  if (value === null) return 'python-dotenv ignores this line';
  if (stored === '' && value !== '') return 'python-dotenv takes the comment as the value';
  if (variable.test(value)) return 'python-dotenv replaces variables in this value, which are kept here';
  if (value === stored) return null;
  return value.includes('\\') || stored.includes('\\')
    ? 'python-dotenv treats a backslash in this value in another way'
    : 'python-dotenv reads another value';
}

function readQuoted(rest: string): string | null {
  const isDouble = rest.startsWith('"');
  const [whole = '', content] = (isDouble ? /^"((?:\\"|[^"])*)"/ : /^'((?:\\'|[^'])*)'/).exec(rest) ?? [];
  if (content === undefined || !/^[^\S\n]*(?:#[^\n]*)?(?:\n|$)/.test(rest.slice(whole.length))) return null;
  return content.replace(isDouble ? /\\([\\'"abfnrtv])/g : /\\([\\'])/g, (_, name: string) => escapes[name] ?? name);
}

function readUnquoted(rest: string): string {
  const end = rest.indexOf('\n');
  const line = end === -1 ? rest : rest.slice(0, end);
  const comment = /\s#/.exec(line);
  return line.slice(0, comment?.index ?? line.length).trimEnd();
}
