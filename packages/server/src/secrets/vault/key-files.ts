import { randomBytes, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../operator-error.ts';
import { rootKeyId } from './root-key.ts';

/** A key file, or the folder of them, that nothing may be read from. The message says what to do. */
class KeyFileError extends OperatorError {
  override readonly name = 'KeyFileError';
}

const keyBytes = 32;
const unfinished = '.new';
/** A key's id, as `rootKeyId` makes it. */
const keyFileName = /^[0-9a-f]{16}$/;

/**
 * The root keys that lie in a folder, one file each, named by its id. What was not finished by a server that died is
 * removed: nothing was sealed with it.
 *
 * @throws KeyFileError when a file is not ours alone, or not what its name says
 */
export async function readKeyFiles(folder: string): Promise<Buffer[]> {
  const keys: Buffer[] = [];
  for (const name of (await namesIn(folder)).sort()) {
    if (name.endsWith(unfinished)) await unlink(join(folder, name));
    else keys.push(await readKeyFile(join(folder, name), name));
  }
  return keys;
}

/** The root key of an id, where its file is there; null where it is not. @throws KeyFileError */
export async function findKeyFile(folder: string, keyId: string): Promise<Buffer | null> {
  const isThere = (await namesIn(folder)).includes(keyId);
  return isThere ? readKeyFile(join(folder, keyId), keyId) : null;
}

/** None where the folder is not there: the first key makes it. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    await chmod(folder, 0o700);
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function readKeyFile(file: string, name: string): Promise<Buffer> {
  if (!keyFileName.test(name)) {
    throw new KeyFileError(
      `${file} is not a key file: their names are 16 hexadecimal digits. Restore its name, or move it elsewhere.`,
    );
  }
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
      throw new KeyFileError(`The key file ${file} cannot be read: ${reason}. It must be a regular file.`);
    },
  );
  try {
    const { mode, uid, size } = await handle.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new KeyFileError(`${file} is not a regular file.`);
    if ((mode & 0o077) !== 0) {
      throw new KeyFileError(
        `The key file ${file} can be read by others. Check who has read it, then: chmod 600 ${file}`,
      );
    }
    if (uid !== process.geteuid?.()) throw new KeyFileError(`The key file ${file} belongs to another user.`);
    const key = Buffer.alloc(keyBytes);
    const { bytesRead } = await handle.read(key, 0, keyBytes, 0);
    if (size !== keyBytes || bytesRead !== keyBytes || rootKeyId(key) !== name) {
      throw new KeyFileError(
        `The key file ${file} is damaged; put the right one back. The service never creates another.`,
      );
    }
    return key;
  } finally {
    await handle.close();
  }
}

/** Makes a root key. It is on the disk, file and name, before anything can be sealed with it. */
export async function makeKeyFile(folder: string): Promise<Buffer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const key = randomBytes(keyBytes);
  const temporary = join(folder, `${randomUUID()}${unfinished}`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, 0o600);
  try {
    await handle.writeFile(key);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(folder, rootKeyId(key)));
  const directory = await open(folder, constants.O_RDONLY);
  await directory.sync().finally(() => directory.close());
  return key;
}
