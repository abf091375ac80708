import { globalOptions } from './command-line/global-options.ts';
import type { Options } from './command-line/options.ts';
import { formatOption, formatUsage } from './command-line/usage.ts';
import { commandAliases, commandGroups, commands, defaultCommands } from './commands.ts';
import { environmentVariables } from './config.ts';
import { listSubcommands } from './find-command.ts';

/** `columns` is the width of the help text in characters; `title` formats section titles. */
export type HelpStyle = { readonly columns: number; readonly title: (text: string) => string };

const plain: HelpStyle = { columns: Number.POSITIVE_INFINITY, title: (text) => text };

export async function formatCommandHelp(path: string, style: HelpStyle = plain): Promise<string> {
  const command = (await commands[path]?.())?.command;
  if (command === undefined) throw new Error(`There is no command "${path}".`);
  const aliases = Object.keys(commandAliases).filter((alias) => commandAliases[alias] === path);
  const groups = Object.keys(defaultCommands).filter((group) => defaultCommands[group] === path);
  const others = [
    ...aliases.map((alias) => `botcli ${alias} [options]`),
    ...groups.map((group) => formatUsage(group, command)),
  ];
  const section = sectionWriter(style);
  return joinParagraphs([
    wrapText(`${command.summary}.`, style.columns),
    [style.title('Usage:'), `  ${formatUsage(path, command)}`, ...others.map((usage) => `  ${usage}`)],
    section(
      'Arguments:',
      Object.entries(command.arguments).map(([name, { description }]) => [name.toUpperCase(), description]),
    ),
    section('Options:', optionRows(command.options)),
    section('Global options:', optionRows(globalOptions)),
    ...(command.details === null ? [] : [detailsSection(command.details, style)]),
    section(
      'Examples:',
      command.examples.map((example) => [`botcli ${example}`, '']),
    ),
  ]);
}

function detailsSection(details: string, { columns, title }: HelpStyle): readonly string[] {
  const paragraphs = details
    .split('\n')
    .map((paragraph) => wrapText(paragraph, columns - 2).map((line) => `  ${line}`));
  return [title('Details:'), ...paragraphs.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]))];
}

const firstSteps = [
  ['botcli init quickstart', 'create a bot that you can talk to in a browser'],
  ['botcli cloud auth login', 'log in with your browser'],
  ['botcli cloud deploy', 'deploy the project in this directory'],
] as const;

export async function formatGroupHelp(path: string, style: HelpStyle = plain): Promise<string> {
  const section = sectionWriter(style);
  const rows: [string, string][] = [];
  for (const word of listSubcommands(path))
    rows.push([word, await findSummary(path === '' ? word : `${path} ${word}`)]);
  const commandPath = path === '' ? 'botcli' : `botcli ${path}`;
  return joinParagraphs([
    [path === '' ? 'botcli, the command line of bothost.' : `${commandGroups[path]}.`],
    [style.title('Usage:'), `  ${commandPath} COMMAND [options]`],
    section('Commands:', rows),
    ...(path === '' ? [section('Getting started:', firstSteps)] : []),
    section('Global options:', optionRows(globalOptions)),
    ...(path === '' ? [section('Environment:', environmentVariables)] : []),
    [`Help for one command: ${commandPath} COMMAND --help`],
  ]);
}

async function findSummary(path: string): Promise<string> {
  return commandGroups[path] ?? (await commands[path]?.())?.command.summary ?? '';
}

function optionRows(options: Options): readonly (readonly [string, string])[] {
  return Object.entries(options).map(([name, option]) => [formatOption(name, option), option.description]);
}

type Rows = readonly (readonly [string, string])[];

/** Minimum width of the descriptions. If the terminal is narrower, each is on the line below its entry. */
const minimumColumns = 30;

function sectionWriter({ columns, title }: HelpStyle): (name: string, rows: Rows) => readonly string[] {
  return (name, rows) => {
    if (rows.length === 0) return [];
    const width = Math.max(...rows.map(([left]) => left.length));
    const beside = columns - width - 4;
    const lines = rows.flatMap(([left, right]) => {
      if (right === '') return [`  ${left}`];
      const isNarrow = beside < minimumColumns;
      const [first = '', ...more] = wrapText(right, isNarrow ? columns - 6 : beside);
      if (isNarrow) return [`  ${left}`, ...[first, ...more].map((line) => `      ${line}`)];
      return [`  ${left.padEnd(width)}  ${first}`, ...more.map((line) => `${' '.repeat(width + 4)}${line}`)];
    });
    return [title(name), ...lines];
  };
}

/** Wraps text at `columns` characters. Longer words are not split. */
function wrapText(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function joinParagraphs(parts: readonly (readonly string[])[]): string {
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n');
}
