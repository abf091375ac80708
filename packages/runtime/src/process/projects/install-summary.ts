/** Summarizes a line of pip or uv for the short log. Null unless it is a warning, an error or the result. */
export function summarizeInstallerOutputLine(line: string): string | null {
  // pip prints the names of the installed packages; uv prints their number, which is enough for the short log.
  const installed = /^Successfully installed (.+)/.exec(line)?.[1];
  if (installed !== undefined) return `Installed ${countOf(installed.split(' ').length)}`;
  return /^\s*(?:(?:warning|deprecation|error)\b|Installed \d+ packages?\b)/i.test(line) ? line : null;
}

function countOf(packages: number): string {
  return packages === 1 ? '1 package' : `${packages} packages`;
}
