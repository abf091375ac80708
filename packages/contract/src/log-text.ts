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
