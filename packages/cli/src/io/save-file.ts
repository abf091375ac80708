import { randomUUID } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';

type WriteContent<T> = (append: (bytes: Uint8Array) => Promise<void>) => Promise<T>;

/**
 * Saves a file that only its owner can read. Until it is complete and on the disk, it has a temporary name in the same directory. The
 * temporary name is random, so no existing file is replaced. If the process is killed, the temporary file stays. Returns what `write`
 * returns.
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
