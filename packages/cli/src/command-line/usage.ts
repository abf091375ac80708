import type { Command } from './command.ts';
import type { Option } from './options.ts';

/** Formats a line such as `botcli cloud agent stop NAME --session-id ID [options]`. */
export function formatUsage(path: string, command: Command): string {
  const needed = Object.entries(command.options).flatMap(([name, option]) =>
    option.kind === 'value' && option.required ? [`--${name} ${option.placeholder}`] : [],
  );
  const names = Object.entries(command.arguments).map(([name, { optional, many }]) => {
    const word = name.toUpperCase() + (many === true ? '...' : '');
    return optional === true ? `[${word}]` : word;
  });
  return ['botcli', path, ...names, ...needed, '[options]'].join(' ');
}

/** Formats an option such as `-s, --session-id ID`. */
export function formatOption(name: string, option: Option): string {
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
