import { type LogLevel, logLevels } from '@bothost/contract';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
const colours = /\x1b\[[0-9;]*m/g;
const pipecatLine = new RegExp(String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| (${logLevels.join('|')}) *\|`);

/** The level of a line in the Pipecat format, with or without colours (bot contract 2.11); null for any other. */
export function levelOf(text: string): LogLevel | null {
  const start = text.slice(0, 120).replace(colours, '');
  return (pipecatLine.exec(start)?.[1] as LogLevel | undefined) ?? null;
}

export function isAtLeast(level: LogLevel | null, least: LogLevel): boolean {
  return level !== null && logLevels.indexOf(level) >= logLevels.indexOf(least);
}
