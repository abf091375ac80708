import { rmSync, writeFileSync } from 'node:fs';
import { getSystemErrorCode } from '../../failure.ts';

/** Creates a file. Returns false if it already exists. Removes an incomplete file if writing fails. @throws system errors */
export function createFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (getSystemErrorCode(error) === 'EEXIST') return false;
    rmSync(path, { force: true });
    throw error;
  }
}
