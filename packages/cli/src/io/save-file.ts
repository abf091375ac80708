import { randomUUID } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';

type WriteContent<T> = (append: (bytes: Uint8Array) => Promise<void>) => Promise<T>;

/**
 * Saves a file for its owner only, under a temporary name beside it until it is complete and on the disk. The temporary name is new, so
 * that no file of somebody else is replaced; if the process is killed, the temporary file stays. Returns what `write` returns.
 *
 * @throws the system's error; EEXIST if the file exists and `isReplaced` is false
 */
export async function saveFile<T>(path: string, isReplaced: boolean, write: WriteContent<T>): Promise<T> {
  const partial = `${path}.${randomUUID()}.partial`;
  const handle = await open(partial, 'wx', 0o600);
  try {
    let result: T;
    try {
      result = await write((bytes) => handle.appendFile(bytes));
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (isReplaced) await rename(partial, path);
    // Unlike `rename`, this fails if the file exists.
    else await link(partial, path);
    return result;
  } finally {
    await rm(partial, { force: true });
  }
}
