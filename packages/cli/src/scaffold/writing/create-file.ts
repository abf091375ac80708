import { rmSync, writeFileSync } from 'node:fs';

/** Creates a file; false if it exists. A failed write leaves no file. @throws errors of the system */
export function createFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    rmSync(path, { force: true });
    throw error;
  }
}
