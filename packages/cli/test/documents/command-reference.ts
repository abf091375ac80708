import type { Command } from '../../src/command-line/command.ts';
import { globalOptions } from '../../src/command-line/global-options.ts';
import type { Options } from '../../src/command-line/options.ts';
import { formatOption, formatUsage } from '../../src/command-line/usage.ts';
import { commandAliases, commandGroups, commands } from '../../src/commands.ts';
import { environmentVariables } from '../../src/config.ts';
import { failureReasons } from '../../src/failure-reasons.ts';
import { formatCode, formatTable } from './markdown.ts';

export async function generateCommandReference(): Promise<string> {
  const parts = [introduction()];
  for (const path of Object.keys(commands).filter((words) => !words.includes(' '))) {
    parts.push((await commandSection(path)).replace(/^### .*$/m, `## botcli ${path}`));
  }
  for (const [group, about] of Object.entries(commandGroups)) {
    const own = Object.keys(commands).filter((path) => path.startsWith(`${group} `) && !deeper(path, group));
    if (own.length === 0) continue;
    parts.push(`## botcli ${group}\n\n${about}.`);
    for (const path of own) parts.push(await commandSection(path));
  }
  parts.push(reasonSection());
  return `${parts.join('\n\n')}\n`;
}

function deeper(path: string, group: string): boolean {
  return Object.keys(commandGroups).some((other) => other.startsWith(`${group} `) && path.startsWith(`${other} `));
}

async function commandSection(path: string): Promise<string> {
  const command = (await commands[path]?.())?.command;
  if (command === undefined) throw new Error(`There is no command "${path}".`);
  const names = Object.keys(commandAliases).filter((alias) => commandAliases[alias] === path);
  return [
    `### ${path.split(' ').slice(1).join(' ')}`,
    `${command.summary}.`,
    ...(command.details === null ? [] : [command.details.replaceAll('\n', '\n\n')]),
    ...names.map((alias) => `Also: \`botcli ${alias}\`.`),
    fence([formatUsage(path, command)]),
    ...argumentTable(command),
    ...optionTable(command.options),
    fence(command.examples.map((example) => `botcli ${example}`)),
  ].join('\n\n');
}

function argumentTable({ arguments: expected }: Command): readonly string[] {
  const rows = Object.entries(expected).map(([name, { description }]) => [formatCode(name.toUpperCase()), description]);
  return rows.length === 0 ? [] : [formatTable(['Argument', 'Meaning'], rows)];
}

function optionTable(options: Options): readonly string[] {
  const rows = Object.entries(options).map(([name, option]) => [
    formatCode(formatOption(name, option)),
    option.kind === 'value' && option.required ? `${option.description} (required)` : option.description,
  ]);
  return rows.length === 0 ? [] : [formatTable(['Option', 'Meaning'], rows)];
}

function introduction(): string {
  return [
    '# botcli',
    'Generated from the table of commands in `packages/cli/src/commands.ts`; a test compares the two. ' +
      'Update it with `npx vitest run packages/cli/test/documents/command-reference.test.ts --update`.',
    '## Everywhere',
    ...optionTable(globalOptions),
    formatTable(
      ['Variable', 'Meaning'],
      environmentVariables.map(([name, meaning]) => [formatCode(name), meaning]),
    ),
    'Options override the environment, which overrides the profile. The profile is a TOML file with mode 0600 and the keys ' +
      '`api_url`, `organization`, `private_key` and `public_key`; other keys are kept. An option that takes one value can be ' +
      'given only once.',
    formatTable(
      ['Output', 'What it is'],
      [
        ['`rich`', 'For people: aligned, colored, fitted to the terminal'],
        [
          '`plain`',
          'For line-based tools: tab-separated, complete. A table has a header row, unless it is empty; a single record has a label and a value on each line',
        ],
        [
          '`json`',
          'For programs: exactly one document on standard output, `{"error": {...}}` after a failure; with `--follow`, a document on each line',
        ],
      ],
    ),
    'Data goes to standard output, messages to standard error.',
    formatTable(
      ['Exit status', 'Meaning'],
      [
        ['0', 'Success'],
        ['1', 'Failure: for example an error of the service, a missing object, or a confirmation that was declined'],
        ['2', 'Usage error, or a prompt was needed and there was no terminal'],
        ['130', 'Interrupted'],
      ],
    ),
    'Scripts find out why a command failed from [`error.reason`](#reasons-of-failures) in the JSON document.',
  ].join('\n\n');
}

function reasonSection(): string {
  return [
    '## Reasons of failures',
    'With `--json`, a failed command prints `{"error": {"reason": "...", ...}}`. These are the reasons of botcli itself. The other ' +
      'reasons are those of the service, which the API reference of each service (`/docs`) lists for each operation.',
    formatTable(
      ['Reason', 'Meaning'],
      Object.entries(failureReasons).map(([reason, meaning]) => [formatCode(reason), meaning]),
    ),
  ].join('\n\n');
}

function fence(lines: readonly string[]): string {
  return ['```sh', ...lines, '```'].join('\n');
}
