/** The parts of a line of a bot's output. `level` is empty if the line is not in Pipecat's log format. */
export type LogText = { readonly level: string; readonly message: string };

/** Matches Pipecat's log lines, to which the Python host of the service adds the session id. */
const pipecatLine = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| (\w+) *\| (\S+)(?: \| (?:[0-9a-f-]{36}|NONE))? - (.*)$/s;

/**
 * Splits a line of a bot's output. From a log line in Pipecat's format, removes the time and the session id, and appends the code
 * location to the message.
 */
export function parseLogText(text: string): LogText {
  const [, level = '', codeLocation = '', message = text] = pipecatLine.exec(text) ?? [];
  return { level, message: codeLocation === '' ? message : `${message} (${codeLocation})` };
}
