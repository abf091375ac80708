import { rmSync, writeFileSync } from 'node:fs';

/** Creates a file; false where one exists. A write that fails leaves none. @throws errors of the system */
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
