import type { Command } from '../../src/command-line/command.ts';
import { globalOptions } from '../../src/command-line/global-options.ts';
import type { Options } from '../../src/command-line/options.ts';
import { optionLine, usageLine } from '../../src/command-line/usage.ts';
import { aliases, commands, groups } from '../../src/commands.ts';
import { environmentVariables } from '../../src/config.ts';
import { code, table } from './markdown.ts';

/** The command reference (`docs/botcli.md`) as Markdown, made from the table of commands and nothing else. */
export async function commandReference(): Promise<string> {
  const parts = [introduction()];
  for (const path of Object.keys(commands).filter((words) => !words.includes(' '))) {
    parts.push((await commandSection(path)).replace(/^### .*$/m, `## botcli ${path}`));
  }
  for (const [group, about] of Object.entries(groups)) {
    const own = Object.keys(commands).filter((path) => path.startsWith(`${group} `) && !deeper(path, group));
    if (own.length === 0) continue;
    parts.push(`## botcli ${group}\n\n${about}.`);
    for (const path of own) parts.push(await commandSection(path));
  }
  return `${parts.join('\n\n')}\n`;
}

/** Whether the command belongs to a group within the group. */
function deeper(path: string, group: string): boolean {
  return Object.keys(groups).some((other) => other.startsWith(`${group} `) && path.startsWith(`${other} `));
}

async function commandSection(path: string): Promise<string> {
  const command = (await commands[path]?.())?.command;
  if (command === undefined) throw new Error(`no command at ${path}`);
  const names = Object.keys(aliases).filter((alias) => aliases[alias] === path);
  return [
    `### ${path.split(' ').slice(1).join(' ')}`,
    `${command.summary}.${command.details === null ? '' : ` ${command.details}`}`,
    ...names.map((alias) => `Also: \`botcli ${alias}\`.`),
    fence([usageLine(path, command)]),
    ...argumentTable(command),
    ...optionTable(command.options),
    fence(command.examples.map((example) => `botcli ${example}`)),
  ].join('\n\n');
}

function argumentTable({ arguments: expected }: Command): readonly string[] {
  const rows = Object.entries(expected).map(([name, { description }]) => [code(name.toUpperCase()), description]);
  return rows.length === 0 ? [] : [table(['Argument', 'Meaning'], rows)];
}

function optionTable(options: Options): readonly string[] {
  const rows = Object.entries(options).map(([name, option]) => [
    code(optionLine(name, option)),
    option.kind === 'value' && option.required ? `${option.description} (required)` : option.description,
  ]);
  return rows.length === 0 ? [] : [table(['Option', 'Meaning'], rows)];
}

function introduction(): string {
  return [
    '# botcli',
    'Generated from the table of commands in `packages/cli/src/commands.ts`; a test compares the two. ' +
      'Refresh it by `npx vitest run packages/cli/test/documents/command-reference.test.ts --update`.',
    '## Everywhere',
    ...optionTable(globalOptions),
    table(
      ['Variable', 'Meaning'],
      environmentVariables.map(([name, meaning]) => [code(name), meaning]),
    ),
    'Options win over the environment, the environment over the profile. The profile is TOML, mode 0600: `api_url`, ' +
      '`organization`, `private_key`, `public_key`; anything else in it is kept. An option that takes one value is given once: ' +
      'a second time is refused.',
    table(
      ['Output', 'What it is'],
      [
        ['`rich`', 'For people: aligned, coloured, fitted to the terminal'],
        [
          '`plain`',
          'For line-based tools: tab-separated, nothing shortened, no header; a label and a value per line where one thing is shown',
        ],
        [
          '`json`',
          'For programs: exactly one document on standard output, `{"error": {...}}` when it failed; with `--follow` one on each line',
        ],
      ],
    ),
    'Data goes to standard output, messages to standard error.',
    table(
      ['Exit status', 'Meaning'],
      [
        ['0', 'Done'],
        ['1', 'Failed: the service refused, something was not found, or you answered a question with no'],
        ['2', 'Wrong usage, or a question had to be asked and there was no terminal'],
        ['130', 'Interrupted'],
      ],
    ),
  ].join('\n\n');
}

function fence(lines: readonly string[]): string {
  return ['```sh', ...lines, '```'].join('\n');
}
