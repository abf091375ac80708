import { findPositionalWords, parseCommandLine, requireMandatoryValues } from '../src/command-line/parse-line.ts';
import { commands } from '../src/commands.ts';
import { findCommand } from '../src/find-command.ts';
import { listProjectComponentNames } from '../src/scaffold/configuration/names.ts';
import { runProgram } from './run-program.ts';

/** Returns the usage error of a printed command line that begins with `botcli`, or null if the program accepts it. */
export async function findUsageProblem(line: string): Promise<string | null> {
  const args = splitWords(line);
  try {
    const found = findCommand(findPositionalWords(args));
    const command = (await commands[found.path]?.())?.command;
    if (command === undefined) return 'is no command';
    const values = parseCommandLine(args, new Set(found.words.map(({ index }) => index)), command);
    requireMandatoryValues(values, command, '');
    if (found.path === 'project add' && !(await listProjectComponentNames()).includes(String(values['what'])))
      return 'cannot be added';
    if (found.path !== 'init' || args.length <= 2) return null;
    const { status, stderr } = await runProgram(args.includes('--list-options') ? args : [...args, '--dry-run']);
    return status === 0 ? null : stderr;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Splits a line into words as a shell does. Supports only the syntax that printed commands use. */
function splitWords(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|\\'|[^\s'"\\])+/g)]
    .map(([word]) =>
      word.replace(/'([^']*)'|"([^"]*)"|\\'/g, (quoted, one?: string, two?: string) =>
        quoted === "\\'" ? "'" : (one ?? two ?? ''),
      ),
    )
    .slice(1);
}
