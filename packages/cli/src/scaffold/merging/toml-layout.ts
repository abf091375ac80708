/** A string in a TOML document. `start` and `end` are the positions of its content without the quotes. */
export type TomlString = { readonly start: number; readonly end: number; readonly text: string };

/** An array in a TOML document. `start` is the position of its key, `end` the position after the array. */
export type TomlArray = { readonly start: number; readonly end: number; readonly items: readonly TomlString[] };

/** The strings and arrays of a TOML document by their full key, for example `project.dependencies`. */
export type TomlLayout = {
  readonly texts: ReadonlyMap<string, TomlString>;
  readonly lists: ReadonlyMap<string, TomlArray>;
};

const line = /[^\n]*(?:\n|$)/y;
const header = /[ \t]*\[([\w.-]+)\][ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const listKey = /[ \t]*([\w-]+)[ \t]*=[ \t]*\[/y;
const textKey = /[ \t]*([\w-]+)[ \t]*=[ \t]*(?="[^"]|'[^'])/y;
const comment = /#[^\n]*/y;
const quoted = /"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'/y;

/**
 * Finds strings and arrays with their positions, which TOML parsers do not return. Returns null if the document has multi-line
 * strings or an array that cannot be parsed.
 */
export function parseTomlLayout(document: string): TomlLayout | null {
  if (/"""|'''/.test(document)) return null;
  const texts = new Map<string, TomlString>();
  const lists = new Map<string, TomlArray>();
  let table = '';
  let at = 0;
  while (at < document.length) {
    const [named, list, text] = [
      match(header, document, at),
      match(listKey, document, at),
      match(textKey, document, at),
    ];
    if (named !== null) table = `${named[1]}.`;
    if (text !== null) {
      const item = quotedAt(document, at + text[0].length);
      if (item !== null) texts.set(`${table}${text[1]}`, item);
    }
    if (list !== null) {
      const items = itemsFrom(document, at + list[0].length);
      if (items === null) return null;
      lists.set(`${table}${list[1]}`, { start: at, ...items });
      at = items.end;
    }
    at += match(line, document, at)?.[0].length ?? 1;
  }
  return { texts, lists };
}

/**
 * Lists the strings of an array, without strings of nested arrays and tables. `from` is the position after the opening bracket.
 * Returns null if the array cannot be parsed.
 */
function itemsFrom(document: string, from: number): Omit<TomlArray, 'start'> | null {
  const items: TomlString[] = [];
  let depth = 0;
  for (let at = from; at < document.length; at += 1) {
    const character = document.charAt(at);
    if (character === '#') at += (match(comment, document, at)?.[0].length ?? 1) - 1;
    if (character === '[' || character === '{') depth += 1;
    if (character === ']' || character === '}') depth -= 1;
    if (depth < 0) return { end: at + 1, items };
    if (character !== '"' && character !== "'") continue;
    const item = quotedAt(document, at);
    if (item === null) return null;
    if (depth === 0) items.push(item);
    at = item.end;
  }
  return null;
}

function quotedAt(document: string, at: number): TomlString | null {
  const item = match(quoted, document, at);
  if (item === null) return null;
  return { start: at + 1, end: at + item[0].length - 1, text: item[1] ?? item[2] ?? '' };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
