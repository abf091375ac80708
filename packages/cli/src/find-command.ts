import { closest } from '@bothost/contract/suggest';
import type { Word } from './command-line/parse-line.ts';
import { aliases, commands, groups } from './commands.ts';
import { UsageError } from './failure.ts';

/** The command or group that the leading words name; the path `''` is the program itself. */
export type CommandMatch = {
  readonly kind: 'command' | 'group';
  readonly path: string;
  /** The words that name it. */
  readonly words: readonly Word[];
};

/** Throws a `UsageError` with a suggestion if the words name no command or group. */
export function findCommand(words: readonly Word[]): CommandMatch {
  let path = '';
  for (const [index, { text }] of words.entries()) {
    const next = path === '' ? text : `${path} ${text}`;
    const target = Object.hasOwn(aliases, next) ? aliases[next] : next;
    if (target !== undefined && Object.hasOwn(commands, target)) {
      return { kind: 'command', path: target, words: words.slice(0, index + 1) };
    }
    if (!Object.hasOwn(groups, next)) throw unknownCommand(path, text, words);
    path = next;
  }
  return { kind: 'group', path, words };
}

/** The words that can follow a group, in the order of the table. */
export function nextWords(path: string): readonly string[] {
  const prefix = path === '' ? '' : `${path} `;
  const all = [...Object.keys(groups), ...Object.keys(commands)].filter((name) => name.startsWith(prefix));
  const next = all.map((name) => name.slice(prefix.length).split(' ')[0] ?? '');
  return [...new Set(next)].filter((word) => word !== '');
}

function unknownCommand(path: string, text: string, words: readonly Word[]): UsageError {
  const name = ['botcli', path, text].filter((part) => part !== '').join(' ');
  const hint = suggestion(path, text, words);
  const where = ['botcli', path, '--help'].filter((part) => part !== '').join(' ');
  return new UsageError(
    `Unknown command "${name}".`,
    hint === null ? `List the commands with: ${where}` : `Did you mean "botcli ${hint}"?`,
  );
}

/** A similar word at the same position, or else a command that ends with the same words (`cloud agent list` for `agent list`). */
function suggestion(path: string, text: string, words: readonly Word[]): string | null {
  const near = closest(text, nextWords(path));
  if (near !== null) return path === '' ? near : `${path} ${near}`;
  const typed = words.map((word) => word.text);
  const places = [...Object.keys(commands), ...Object.keys(groups)];
  for (let length = typed.length; length > 0; length -= 1) {
    const tail = typed.slice(0, length).join(' ');
    const place = places.find((candidate) => candidate.endsWith(` ${tail}`));
    if (place !== undefined) return place;
  }
  return null;
}
