import type { Command } from './command.ts';
import type { Option } from './options.ts';

/** `botcli cloud agent stop NAME --session-id ID [options]` */
export function usageLine(path: string, command: Command): string {
  const needed = Object.entries(command.options).flatMap(([name, option]) =>
    option.kind === 'value' && option.required ? [`--${name} ${option.placeholder}`] : [],
  );
  const names = Object.entries(command.arguments).map(([name, { optional, many }]) => {
    const word = name.toUpperCase() + (many === true ? '...' : '');
    return optional === true ? `[${word}]` : word;
  });
  return ['botcli', path, ...names, ...needed, '[options]'].join(' ');
}

/** `-s, --session-id ID` */
export function optionLine(name: string, option: Option): string {
  const long =
    option.kind === 'value' || option.kind === 'values'
      ? `--${name} ${option.placeholder}`
      : option.kind === 'optional-value'
        ? `--${name}[=${option.placeholder}]`
        : option.kind === 'switch'
          ? `--${name}, --no-${name}`
          : `--${name}`;
  return option.short === undefined ? long : `-${option.short}, ${long}`;
}
