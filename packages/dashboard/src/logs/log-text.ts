import { parseLogLevelAndMessage } from '@bothost/contract';

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: terminal sequences and other control characters are removed
const controls =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -~]|[\u0000-\u0008\u000b-\u001f\u007f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** Removes terminal escape sequences, and control characters other than tabs, from a line of a bot's output. */
export function stripControlCharacters(line: string): string {
  return line.replace(controls, '');
}

/**
 * Returns the message of a log line. For a line in Pipecat's format, omits the time, level and session, which the page shows in
 * other columns.
 */
export function extractLogMessage(line: string): string {
  return parseLogLevelAndMessage(stripControlCharacters(line)).message;
}
