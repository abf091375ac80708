import { stripVTControlCharacters } from 'node:util';
import { escapeControls } from './printable.ts';

/** Matches an SGR sequence, which sets color and weight (ECMA-48, section 8.3.117).
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const colorSequence = /\u001b\[[0-9;:]*m/g;

/**
 * Makes a line of a bot's output safe to print, so that a bot cannot control the reader's terminal. Keeps tabs and, if
 * `colors` is true, colors, which are reset at the end of the line. Removes all other control sequences.
 */
export function escapeLogLine(line: string, colors: boolean): string {
  const plain = (text: string) => text.split('\t').map(escapeControls).join('\t');
  const trimmed = line.replace(/\r$/, '');
  if (!colors) return plain(stripVTControlCharacters(trimmed));
  const kept = trimmed.match(colorSequence) ?? [];
  const parts = trimmed.split(colorSequence).map(plain);
  const shown = parts.map((part, index) => part + (kept[index] ?? '')).join('');
  return kept.length === 0 ? shown : `${shown}\u001b[0m`;
}
