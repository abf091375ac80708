import { closeSync, openSync, readSync } from 'node:fs';

const buffer = Buffer.alloc(64 * 1024);

/** By default a short read ends a file: the kernel gives files of one process in one piece. */
const isShortRead = (length: number) => length < buffer.length;

/**
 * Reads a file of `/proc`, until its end or until `isComplete` says that the text so far is enough. Null when the file or its
 * process is missing, or when this account may not read it. Takes half the time of `readFileSync`, which first asks for a
 * size that these files do not have.
 */
export function readProcFile(
  path: string,
  isComplete: (length: number, text: string) => boolean = isShortRead,
): string | null {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    let text = '';
    for (;;) {
      const length = readSync(file, buffer, 0, buffer.length, null);
      text += buffer.toString('latin1', 0, length);
      if (length === 0 || isComplete(length, text)) return text;
    }
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}
