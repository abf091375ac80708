/** Whether a file operation failed because the disk, or its quota, is full. */
export function isFileSystemFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
