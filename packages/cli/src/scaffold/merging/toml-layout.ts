/** A string in quotes; `start` and `end` are the positions of its content. */
export type Quoted = { readonly start: number; readonly end: number; readonly text: string };

/** An array, from the start of its key to its end, with its strings. */
export type List = { readonly start: number; readonly end: number; readonly items: readonly Quoted[] };

/** Positions of strings and arrays in a TOML document, by key with the table's name, such as `project.dependencies`. */
export type Layout = { readonly texts: ReadonlyMap<string, Quoted>; readonly lists: ReadonlyMap<string, List> };

const line = /[^\n]*(?:\n|$)/y;
const header = /[ \t]*\[([\w.-]+)\][ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const listKey = /[ \t]*([\w-]+)[ \t]*=[ \t]*\[/y;
const textKey = /[ \t]*([\w-]+)[ \t]*=[ \t]*(?="[^"]|'[^'])/y;
const comment = /#[^\n]*/y;
const quoted = /"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'/y;

/** Finds strings and arrays with their positions, which TOML parsers do not report. Null for multi-line strings. */
export function layoutOf(document: string): Layout | null {
  if (/"""|'''/.test(document)) return null;
  const texts = new Map<string, Quoted>();
  const lists = new Map<string, List>();
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

/** The strings of the array that was opened just before `from`, without those of nested arrays and tables. */
function itemsFrom(document: string, from: number): Omit<List, 'start'> | null {
  const items: Quoted[] = [];
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

function quotedAt(document: string, at: number): Quoted | null {
  const item = match(quoted, document, at);
  if (item === null) return null;
  return { start: at + 1, end: at + item[0].length - 1, text: item[1] ?? item[2] ?? '' };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
