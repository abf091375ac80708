import { aliases, commands, groups } from './commands.ts';
import { environmentVariables } from './config.ts';
import { wordsBelow } from './find-command.ts';
import { globalOptions } from './global-options.ts';
import type { Options } from './options.ts';
import { optionLine, usageLine } from './usage.ts';

export async function commandHelp(path: string): Promise<string> {
  const command = (await commands[path]?.())?.command;
  if (command === undefined) throw new Error(`no command at ${path}`);
  const others = Object.keys(aliases).filter((alias) => aliases[alias] === path);
  return paragraphs([
    [`${command.summary}.`, ...(command.details === null ? [] : [command.details])],
    ['Usage:', `  ${usageLine(path, command)}`, ...others.map((alias) => `  botcli ${alias} [options]`)],
    section(
      'Arguments:',
      Object.entries(command.arguments).map(([name, { description }]) => [name.toUpperCase(), description]),
    ),
    section('Options:', optionRows(command.options)),
    section('Global options:', optionRows(globalOptions)),
    section(
      'Examples:',
      command.examples.map((example) => [`botcli ${example}`, '']),
    ),
  ]);
}

export async function groupHelp(path: string): Promise<string> {
  const rows: [string, string][] = [];
  for (const word of wordsBelow(path)) rows.push([word, await summaryOf(path === '' ? word : `${path} ${word}`)]);
  const place = path === '' ? 'botcli' : `botcli ${path}`;
  return paragraphs([
    [path === '' ? 'botcli, the command-line client of the bot hosting service.' : `${groups[path]}.`],
    ['Usage:', `  ${place} COMMAND [options]`],
    section('Commands:', rows),
    section('Global options:', optionRows(globalOptions)),
    ...(path === '' ? [section('Environment:', environmentVariables)] : []),
    [`More on one: ${place} COMMAND --help`],
  ]);
}

async function summaryOf(path: string): Promise<string> {
  return groups[path] ?? (await commands[path]?.())?.command.summary ?? '';
}

function optionRows(options: Options): readonly (readonly [string, string])[] {
  return Object.entries(options).map(([name, option]) => [optionLine(name, option), option.description]);
}

function section(title: string, rows: readonly (readonly [string, string])[]): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([left]) => left.length));
  return [title, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd())];
}

function paragraphs(parts: readonly (readonly string[])[]): string {
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n');
}
