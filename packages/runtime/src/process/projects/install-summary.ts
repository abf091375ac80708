/** Summarizes a line of uv for the short log. Null unless it is a warning, an error or the result. */
export function summarizeInstallerOutputLine(line: string): string | null {
  return /^\s*(?:(?:warning|error)\b|Installed \d+ packages?\b)/i.test(line) ? line : null;
}
