import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { readOrCreateFile } from './data-directory.ts';

/**
 * Returns a function that checks whether a token is the operator's. The operator's token is in the settings, or in a
 * file in the data directory that the first start creates and that only accounts with access to the directory can read.
 *
 * @throws OperatorError if the file is damaged
 */
export async function createOperatorTokenCheck(
  dataDirectory: string,
  given: string | undefined,
): Promise<(token: string) => boolean> {
  const file = join(dataDirectory, 'operator-token');
  const token = given ?? (await readOrCreateFile(file, 0o600, () => randomBytes(32).toString('hex')));
  if (token.length < 32) {
    throw new OperatorError(`The file ${file} is damaged. Remove the file; the next start creates a new one.`);
  }
  const right = digest(token);
  return (other) => timingSafeEqual(digest(other), right);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
