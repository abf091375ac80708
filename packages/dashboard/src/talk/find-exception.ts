/** The last line of a Python traceback, such as `ValueError: no key`. Names of exceptions begin with a capital letter. */
const exceptionLine = /^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Group|Warning)(?:: .*)?$/;

/** Returns the last exception that a bot logged, with its message. Null if the lines contain no exception. */
export function findException(lines: readonly string[]): string | null {
  return lines.findLast((line) => exceptionLine.test(line.trimEnd()))?.trimEnd() ?? null;
}
