import { hasErrorCode } from './error-code.ts';

/** Whether a file operation failed because the disk, or its quota, is full. */
export function isFileSystemFull(error: unknown): boolean {
  return hasErrorCode(error, 'ENOSPC', 'EDQUOT');
}
