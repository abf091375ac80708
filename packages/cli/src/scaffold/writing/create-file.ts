import { rmSync, writeFileSync } from 'node:fs';

/** Returns false if the file exists. A failed write leaves no file. @throws system errors */
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
