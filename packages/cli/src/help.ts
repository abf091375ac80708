import { globalOptions } from './command-line/global-options.ts';
import type { Options } from './command-line/options.ts';
import { optionLine, usageLine } from './command-line/usage.ts';
import { aliases, commands, groups } from './commands.ts';
import { environmentVariables } from './config.ts';
import { nextWords } from './find-command.ts';

/** The width of help in characters, and how titles are formatted. */
export type HelpStyle = { readonly columns: number; readonly title: (text: string) => string };

/** Without a terminal, lines are not wrapped. */
const plain: HelpStyle = { columns: Number.POSITIVE_INFINITY, title: (text) => text };

export async function commandHelp(path: string, style: HelpStyle = plain): Promise<string> {
  const command = (await commands[path]?.())?.command;
  if (command === undefined) throw new Error(`no command at ${path}`);
  const others = Object.keys(aliases).filter((alias) => aliases[alias] === path);
  const section = sectionWriter(style);
  return joinParagraphs([
    wrapText(`${command.summary}.`, style.columns),
    [style.title('Usage:'), `  ${usageLine(path, command)}`, ...others.map((alias) => `  botcli ${alias} [options]`)],
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

/** Each line of the details is a paragraph. */
function detailsSection(details: string, { columns, title }: HelpStyle): readonly string[] {
  const paragraphs = details
    .split('\n')
    .map((paragraph) => wrapText(paragraph, columns - 2).map((line) => `  ${line}`));
  return [title('Details:'), ...paragraphs.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]))];
}

/** The first commands that a new user needs. */
const firstSteps = [
  ['botcli init quickstart', 'create a bot that you can talk to in a browser'],
  ['botcli cloud auth login', 'log in with a key of the service'],
  ['botcli cloud deploy', 'deploy the project in this directory'],
] as const;

export async function groupHelp(path: string, style: HelpStyle = plain): Promise<string> {
  const section = sectionWriter(style);
  const rows: [string, string][] = [];
  for (const word of nextWords(path)) rows.push([word, await summaryOf(path === '' ? word : `${path} ${word}`)]);
  const place = path === '' ? 'botcli' : `botcli ${path}`;
  return joinParagraphs([
    [path === '' ? 'botcli, the command line of bothost.' : `${groups[path]}.`],
    [style.title('Usage:'), `  ${place} COMMAND [options]`],
    section('Commands:', rows),
    ...(path === '' ? [section('Getting started:', firstSteps)] : []),
    section('Global options:', optionRows(globalOptions)),
    ...(path === '' ? [section('Environment:', environmentVariables)] : []),
    [`Help for one command: ${place} COMMAND --help`],
  ]);
}

async function summaryOf(path: string): Promise<string> {
  return groups[path] ?? (await commands[path]?.())?.command.summary ?? '';
}

function optionRows(options: Options): readonly (readonly [string, string])[] {
  return Object.entries(options).map(([name, option]) => [optionLine(name, option), option.description]);
}

type Rows = readonly (readonly [string, string])[];

/** If less width is left for descriptions, they go below their entries. */
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

/** Wraps text at `columns` characters; a longer word gets a line of its own. */
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
