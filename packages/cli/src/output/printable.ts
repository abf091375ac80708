import { stripVTControlCharacters } from 'node:util';

/**
 * Text from the service as it may go to a terminal: without escape sequences, other control characters made visible, also
 * those that turn around the text after them.
 * A bot's own output (a crash tail) comes by this way, so that it cannot drive the reader's terminal.
 */
export function printable(text: string): string {
  return stripVTControlCharacters(text).replace(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    if (character === '\r') return '\\r';
    if (character > '\u00FF') return `\\u${character.charCodeAt(0).toString(16)}`;
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
