import { closeSync, openSync, readSync } from 'node:fs';

const buffer = Buffer.alloc(64 * 1024);

/**
 * Pass as `isComplete` for files of one process in `/proc`: the kernel returns them in one read, so a short read ends the file.
 */
const isShortRead = (length: number) => length < buffer.length;

/** Pass as `isComplete` for lists such as mountinfo, which the kernel may return in several short reads. */
export const isNeverComplete = () => false;

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
