import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure, getSystemErrorCode } from '../../failure.ts';

/** Maximum size of a config file. Without a limit, reading a device such as /dev/zero would never end. */
const maxBytes = 1_000_000;

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'there is no permission to read it',
};

/** Reads a config file, which can also be a pipe. @throws `Failure` config-unreadable */
export function readConfigText(directory: string, file: string): string {
  try {
    return decode(read(resolve(directory, file)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = getSystemErrorCode(error) ?? '';
    const cause = causes[code] ?? (code === '' ? error.message : `the system reports ${code}`);
    throw new Failure(
      'config-unreadable',
      `Cannot read the config file ${file}, because ${cause}. Nothing was written.`,
      null,
      { cause: error },
    );
  }
}

function read(path: string): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(maxBytes + 1);
    let length = 0;
    for (let bytes = -1; bytes !== 0 && length <= maxBytes; length += bytes) {
      bytes = readSync(file, buffer, length, buffer.length - length, null);
    }
    if (length > maxBytes) throw new Error('the file is larger than 1 MB');
    return buffer.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('the file is not UTF-8');
  }
}
