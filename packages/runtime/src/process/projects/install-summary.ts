/** Summarizes a line of pip or uv for the short log. Null unless it is a warning, an error or the result. */
export function summarizeInstallLine(line: string): string | null {
  // pip lists the installed packages, while uv prints only their number.
  const installed = /^Successfully installed (.+)/.exec(line)?.[1];
  if (installed !== undefined) return `Installed ${countOf(installed.split(' ').length)}`;
  return /^\s*(?:(?:warning|deprecation|error)\b|Installed \d+ packages?\b)/i.test(line) ? line : null;
}

function countOf(packages: number): string {
  return packages === 1 ? '1 package' : `${packages} packages`;
}
