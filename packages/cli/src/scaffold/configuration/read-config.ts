import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { Failure } from '../../failure.ts';

/** More than any answers are: a device that never ends is not read forever. */
const mostBytes = 1_000_000;

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file',
  EACCES: 'there is no permission to read it',
};

/** The text of a config file, which may be a pipe as well. @throws `Failure` config-unreadable */
export function readConfigText(directory: string, file: string): string {
  try {
    return decode(read(resolve(directory, file)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = 'code' in error ? String(error.code) : '';
    const cause = causes[code] ?? (code === '' ? error.message : `the system says ${code}`);
    throw new Failure('config-unreadable', `The config file ${file} cannot be read: ${cause}. Nothing was written.`);
  }
}

function read(path: string): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(mostBytes + 1);
    let length = 0;
    for (let bytes = -1; bytes !== 0 && length <= mostBytes; length += bytes) {
      bytes = readSync(file, buffer, length, buffer.length - length, null);
    }
    if (length > mostBytes) throw new Error('it is larger than 1 MB');
    return buffer.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8');
  }
}
