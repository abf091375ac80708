/** A text in quotes: where its inside begins and ends. */
export type Quoted = { readonly start: number; readonly end: number; readonly text: string };

/** An array: where its key begins, where it ends, and the texts in it. */
export type List = { readonly start: number; readonly end: number; readonly items: readonly Quoted[] };

/** Where things stand in a TOML document; keys with their table before them, as in `project.dependencies`. */
export type Layout = { readonly texts: ReadonlyMap<string, Quoted>; readonly lists: ReadonlyMap<string, List> };

const line = /[^\n]*(?:\n|$)/y;
const header = /[ \t]*\[([\w.-]+)\][ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const listKey = /[ \t]*([\w-]+)[ \t]*=[ \t]*\[/y;
const textKey = /[ \t]*([\w-]+)[ \t]*=[ \t]*(?="[^"]|'[^'])/y;
const comment = /#[^\n]*/y;
const quoted = /"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'/y;

/** Where the texts and the arrays of a document stand, as parsers do not tell. Null for texts of several lines. */
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
      const found = quotedAt(document, at + text[0].length);
      if (found !== null) texts.set(`${table}${text[1]}`, found);
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

/** The texts of an array whose bracket was opened right before; those of arrays and tables in it are not its own. */
function itemsFrom(document: string, from: number): Omit<List, 'start'> | null {
  const items: Quoted[] = [];
  let depth = 0;
  for (let at = from; at < document.length; at += 1) {
    const sign = document.charAt(at);
    if (sign === '#') at += (match(comment, document, at)?.[0].length ?? 1) - 1;
    if (sign === '[' || sign === '{') depth += 1;
    if (sign === ']' || sign === '}') depth -= 1;
    if (depth < 0) return { end: at + 1, items };
    if (sign !== '"' && sign !== "'") continue;
    const found = quotedAt(document, at);
    if (found === null) return null;
    if (depth === 0) items.push(found);
    at = found.end;
  }
  return null;
}

function quotedAt(document: string, at: number): Quoted | null {
  const found = match(quoted, document, at);
  if (found === null) return null;
  return { start: at + 1, end: at + found[0].length - 1, text: found[1] ?? found[2] ?? '' };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
