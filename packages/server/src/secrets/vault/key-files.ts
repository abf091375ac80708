import { randomBytes, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../operator-error.ts';
import { hasErrorCode } from '../../store/error-code.ts';
import { computeRootKeyId } from './root-key.ts';

/** Thrown for a key file that must not be used. The message says what to do. */
class KeyFileError extends OperatorError {
  override readonly name = 'KeyFileError';
}

const keyBytes = 32;
const temporarySuffix = '.new';
const keyFileName = /^[0-9a-f]{16}$/;

/**
 * Reads the root keys in a directory. The name of each file is the id of its key. Deletes temporary files that a killed server
 * left behind: no server has used the keys in them.
 *
 * @throws KeyFileError if another account can read a file, or its content does not match its name
 */
export async function readKeyFiles(folder: string): Promise<Buffer[]> {
  const keys: Buffer[] = [];
  for (const name of (await namesIn(folder)).sort()) {
    if (name.endsWith(temporarySuffix)) await unlink(join(folder, name));
    else keys.push(await readKeyFile(join(folder, name), name));
  }
  return keys;
}

/** Reads the key file with this id. Null if there is none. @throws KeyFileError */
export async function findKeyFile(folder: string, keyId: string): Promise<Buffer | null> {
  const exists = (await namesIn(folder)).includes(keyId);
  return exists ? readKeyFile(join(folder, keyId), keyId) : null;
}

/** Returns the names of the files in the directory. Empty if the directory does not exist yet. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    await chmod(folder, 0o700);
    return await readdir(folder);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return [];
    throw error;
  }
}

async function readKeyFile(file: string, name: string): Promise<Buffer> {
  if (!keyFileName.test(name)) {
    throw new KeyFileError(
      `${file} is not a key file: the name of a key file has 16 hexadecimal digits. Restore its name, or move it elsewhere.`,
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
        `The key file ${file} can be read by other accounts. Check who has read it, then run: chmod 600 ${file}`,
      );
    }
    if (uid !== process.geteuid?.()) throw new KeyFileError(`The key file ${file} belongs to another user.`);
    const key = Buffer.alloc(keyBytes);
    const { bytesRead } = await handle.read(key, 0, keyBytes, 0);
    if (size !== keyBytes || bytesRead !== keyBytes || computeRootKeyId(key) !== name) {
      throw new KeyFileError(
        `The key file ${file} is damaged: its content does not match its name. Restore it; the service never creates another one in its place.`,
      );
    }
    return key;
  } finally {
    await handle.close();
  }
}

/** Creates a root key. The file and its directory entry are flushed to disk before the key can be used. */
export async function createKeyFile(folder: string): Promise<Buffer> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const key = randomBytes(keyBytes);
  const temporary = join(folder, `${randomUUID()}${temporarySuffix}`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temporary, flags, 0o600);
  try {
    await handle.writeFile(key);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(folder, computeRootKeyId(key)));
  const directory = await open(folder, constants.O_RDONLY);
  await directory.sync().finally(() => directory.close());
  return key;
}
