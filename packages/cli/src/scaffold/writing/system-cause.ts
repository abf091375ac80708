const causes: Readonly<Record<string, string>> = {
  ENOENT: 'the file system does not allow a directory there',
  EACCES: 'there is no permission to write there',
  EPERM: 'there is no permission to write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'files may not be that large here',
  ENAMETOOLONG: 'the name is too long',
  ENOTDIR: 'a part of the path is a file',
  ENOTEMPTY: 'another program wrote there at the same time',
  ELOOP: 'links lead in a circle',
};

/** Why the system did not let a file of a project be written, with its path; null of an error that is not the system's. */
export function systemCause(error: unknown, directory: string): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  const path = 'path' in error ? ` (${knownPath(String(error.path), directory)})` : '';
  return `${causes[code] ?? `the system says ${code}`}${path}`;
}

/** A temporary file of botcli means nothing to people: it stands for the directory of the project. */
function knownPath(path: string, directory: string): string {
  return /\.botcli-(init|new)/.test(path) ? directory : path;
}
