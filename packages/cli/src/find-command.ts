import { closest } from '@bothost/contract/suggest';
import type { Word } from './command-line/parse-line.ts';
import { aliases, commands, groups } from './commands.ts';
import { UsageError } from './failure.ts';

/** What the leading words name: a command, or a group that needs another word (`''` is the program itself). */
export type Found = {
  readonly kind: 'command' | 'group';
  readonly path: string;
  /** Those that name it. */
  readonly words: readonly Word[];
};

/** Throws a `UsageError` with a suggestion when the words lead nowhere. */
export function findCommand(words: readonly Word[]): Found {
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

/** The words that may follow a group, in the order of the table. */
export function wordsBelow(path: string): readonly string[] {
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
    `There is no command "${name}".`,
    hint === null ? `See all with: ${where}` : `Did you mean "botcli ${hint}"?`,
  );
}

/** First a near word in the same place, then the same words in another place (`agent list` for `cloud agent list`). */
function suggestion(path: string, text: string, words: readonly Word[]): string | null {
  const near = closest(text, wordsBelow(path));
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
