import { closeSync, openSync, readSync } from 'node:fs';

/** More than any answers are: a device that never ends is not read for ever. */
const most = 1_000_000;

/**
 * The text of a config file, which may be a pipe as well. Throws what the system says (`code`), or an `Error` whose message
 * goes after "cannot be read:".
 */
export function readConfigText(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(most + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= most; length += read) {
      read = readSync(file, buffer, length, buffer.length - length, null);
    }
    if (length > most) throw new Error('it is larger than 1 MB');
    return decode(buffer.subarray(0, length));
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is no UTF-8');
  }
}
