import { getSystemErrorCode } from '../../failure.ts';

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'the file system refuses to create a directory there',
  EACCES: 'there is no permission to write there',
  EPERM: 'there is no permission to write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than the limit of the system',
  ENAMETOOLONG: 'the name is too long',
  ENOTDIR: 'a part of the path is a file',
  ENOTEMPTY: 'another program wrote there at the same time',
  ELOOP: 'links form a loop',
};

/** Describes a system error, with the path of the file if known. Null for other errors. */
export function describeWriteError(error: unknown, directory: string): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null;
  const code = getSystemErrorCode(error) ?? '';
  const path = 'path' in error ? ` (${knownPath(String(error.path), directory)})` : '';
  return `${causes[code] ?? `the system reports ${code}`}${path}`;
}

/** Replaces the path of a temporary botcli file, which means nothing to users, with the path of the project. */
function knownPath(path: string, directory: string): string {
  return /\.botcli-(init|new)/.test(path) ? directory : path;
}
