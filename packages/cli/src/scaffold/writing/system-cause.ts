const causes: Readonly<Record<string, string>> = {
  ENOENT: 'the file system does not allow a directory there',
  EACCES: 'there is no permission to write there',
  EPERM: 'there is no permission to write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'files may not be that large here',
  EXDEV: 'a directory in it is another disk',
  ENAMETOOLONG: 'the name is too long',
  ENOTDIR: 'a part of the path is a file',
  ELOOP: 'links lead in a circle',
};

/**
 * Why the system did not let a file be written, with its path as `told` says it; null of an error that is not the
 * system's.
 */
export function systemCause(error: unknown, told = (path: string) => path): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null;
  const code = 'code' in error ? String(error.code) : '';
  const path = 'path' in error ? ` (${told(String(error.path))})` : '';
  return `${causes[code] ?? `the system says ${code}`}${path}`;
}
