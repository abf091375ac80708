import { findClosestWord } from '@bothost/contract/find-closest-word';
import type { PositionalWord } from './command-line/parse-line.ts';
import { commandAliases, commandGroups, commands, defaultCommands } from './commands.ts';
import { UsageError } from './failure.ts';

/** The command or command group that a command line names. `path` is `''` if the command line names only botcli itself. */
export type CommandMatch = {
  readonly kind: 'command' | 'group';
  readonly path: string;
  readonly words: readonly PositionalWord[];
};

/** Finds the command or command group that `words` name. Throws a `UsageError` with a suggestion for an unknown command. */
export function findCommand(words: readonly PositionalWord[]): CommandMatch {
  let path = '';
  for (const [index, { text }] of words.entries()) {
    const next = path === '' ? text : `${path} ${text}`;
    const target = Object.hasOwn(commandAliases, next) ? commandAliases[next] : next;
    if (target !== undefined && Object.hasOwn(commands, target)) {
      return { kind: 'command', path: target, words: words.slice(0, index + 1) };
    }
    if (!Object.hasOwn(commandGroups, next)) {
      const standard = Object.hasOwn(defaultCommands, path) ? defaultCommands[path] : undefined;
      if (standard === undefined) throw unknownCommandError(path, text, words);
      return { kind: 'command', path: standard, words: words.slice(0, index) };
    }
    path = next;
  }
  return { kind: 'group', path, words };
}

/** Lists the names of the subcommands and subgroups in a group. */
export function listSubcommands(path: string): readonly string[] {
  const prefix = path === '' ? '' : `${path} `;
  const all = [...Object.keys(commandGroups), ...Object.keys(commands)].filter((name) => name.startsWith(prefix));
  const next = all.map((name) => name.slice(prefix.length).split(' ')[0] ?? '');
  return [...new Set(next)].filter((word) => word !== '');
}

function unknownCommandError(path: string, text: string, words: readonly PositionalWord[]): UsageError {
  const name = ['botcli', path, text].filter((part) => part !== '').join(' ');
  const hint = suggestCommand(path, text, words);
  const helpCommand = ['botcli', path, '--help'].filter((part) => part !== '').join(' ');
  return new UsageError(
    `Unknown command "${name}".`,
    hint === null ? `To list the commands, run: ${helpCommand}` : `Did you mean "botcli ${hint}"?`,
  );
}

/**
 * Suggests a correction for an unknown command: a similar word at the same position, or a command whose name ends with the typed
 * words, such as `cloud agent list` for `agent list`.
 */
function suggestCommand(path: string, text: string, words: readonly PositionalWord[]): string | null {
  const near = findClosestWord(text, listSubcommands(path));
  if (near !== null) return path === '' ? near : `${path} ${near}`;
  const typed = words.map((word) => word.text);
  const paths = [...Object.keys(commands), ...Object.keys(commandGroups)];
  for (let length = typed.length; length > 0; length -= 1) {
    const tail = typed.slice(0, length).join(' ');
    const match = paths.find((candidate) => candidate.endsWith(` ${tail}`));
    if (match !== undefined) return match;
  }
  return null;
}
