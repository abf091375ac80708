import { stripVTControlCharacters } from 'node:util';

/**
 * Makes text safe to print on a terminal, because it may come from a bot. Removes escape sequences and escapes other control
 * characters, including characters that change the direction of text.
 */
export function escapeControls(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    if (character === '\r') return '\\r';
    if (character > '\u00FF') return `\\u${character.charCodeAt(0).toString(16)}`;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
