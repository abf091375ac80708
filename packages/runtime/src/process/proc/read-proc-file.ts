import { closeSync, openSync, readSync } from 'node:fs';

const buffer = Buffer.alloc(64 * 1024);

/** Use for the files of one process, which the kernel returns in one piece, so a short read is the end of the file. */
const isShortRead = (length: number) => length < buffer.length;

/** Use for lists such as mountinfo, which the kernel returns in several pieces. */
export const readToEnd = () => false;

/**
 * Reads a file of `/proc` until `isComplete` returns true or the file ends. Null if the file or its process is missing or
 * unreadable. Twice as fast as `readFileSync`, which first queries the size.
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
