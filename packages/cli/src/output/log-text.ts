import { stripVTControlCharacters } from 'node:util';
import { printable } from './printable.ts';

/** Select Graphic Rendition: colors and weight (ECMA-48, 8.3.117). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const colorSequence = /\u001b\[[0-9;:]*m/g;

/**
 * Makes a line of a bot's output safe to print: a bot must not control the reader's terminal. Tabs are kept, and with
 * `colors` also colors, which are reset at the end of the line. All other control sequences are removed.
 */
export function printableLog(line: string, colors: boolean): string {
  const plain = (text: string) => text.split('\t').map(printable).join('\t');
  const trimmed = line.replace(/\r$/, '');
  if (!colors) return plain(stripVTControlCharacters(trimmed));
  const kept = trimmed.match(colorSequence) ?? [];
  const parts = trimmed.split(colorSequence).map(plain);
  const shown = parts.map((part, index) => part + (kept[index] ?? '')).join('');
  return kept.length === 0 ? shown : `${shown}\u001b[0m`;
}
