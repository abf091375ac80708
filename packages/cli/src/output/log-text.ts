import { stripVTControlCharacters } from 'node:util';
import { printable } from './printable.ts';

/** Select Graphic Rendition: colours and weight, which move nothing (ECMA-48, 8.3.117). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const rendition = /\u001b\[[0-9;:]*m/g;

/**
 * A line of a bot's output as it may be shown. With `colors` its colours stay and are ended with the line; any other
 * control sequence goes, so that a bot cannot drive the reader's terminal. Tabs stay.
 */
export function printableLog(line: string, colors: boolean): string {
  const plain = (text: string) => text.split('\t').map(printable).join('\t');
  const trimmed = line.replace(/\r$/, '');
  if (!colors) return plain(stripVTControlCharacters(trimmed));
  const kept = trimmed.match(rendition) ?? [];
  const parts = trimmed.split(rendition).map(plain);
  const shown = parts.map((part, index) => part + (kept[index] ?? '')).join('');
  return kept.length === 0 ? shown : `${shown}\u001b[0m`;
}
