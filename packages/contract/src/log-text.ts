import type { LogLine } from './operations/logs.ts';

/** The parts of a line of a bot's output. `level` is empty if the line is not in Pipecat's log format. */
export type LogLineParts = { readonly level: string; readonly message: string };

/** Matches a log line in Pipecat's format, with or without the session id that the service adds to log lines of Python bots. */
const pipecatLine = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| (\w+) *\| (\S+)(?: \| (?:[0-9a-f-]{36}|NONE))? - (.*)$/s;

/**
 * Splits a line of a bot's output. From a log line in Pipecat's format, removes the time and the session id, and appends the code
 * location to the message.
 */
export function parseLogLevelAndMessage(text: string): LogLineParts {
  const [, level = '', codeLocation = '', message = text] = pipecatLine.exec(text) ?? [];
  return { level, message: codeLocation === '' ? message : `${message} (${codeLocation})` };
}

/** The first line of a log entry and the lines that continue it, or a single other line. */
export type LogEntry = { readonly first: LogLine; readonly rest: readonly LogLine[] };

/**
 * Groups lines, oldest first, by log entry. Instances can write at the same time, so the lines of an entry need not be adjacent. A
 * line whose entry begins before `lines` is an entry of its own.
 */
export function groupLogEntries(lines: readonly LogLine[]): readonly LogEntry[] {
  const entries: { first: LogLine; rest: LogLine[] }[] = [];
  const lastOfInstance = new Map<string, { rest: LogLine[] }>();
  for (const line of lines) {
    const last = line.continuesEntry === true ? lastOfInstance.get(line.instanceId) : undefined;
    if (last !== undefined) {
      last.rest.push(line);
      continue;
    }
    const entry = { first: line, rest: [] };
    entries.push(entry);
    if (line.continuesEntry !== true) lastOfInstance.set(line.instanceId, entry);
  }
  return entries;
}
