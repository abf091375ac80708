import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { keepOnce } from './data-directory.ts';

/**
 * Whether a token is the operator's: the one in the settings, or in a file of the data directory, which is created once. Only
 * accounts with access to the data directory can read that file.
 *
 * @throws OperatorError if the file is damaged
 */
export async function operatorTokenCheck(
  dataDirectory: string,
  given: string | undefined,
): Promise<(token: string) => boolean> {
  const file = join(dataDirectory, 'operator-token');
  const token = given ?? (await keepOnce(file, 0o600, () => randomBytes(32).toString('hex')));
  if (token.length < 32) {
    throw new OperatorError(`The file ${file} is damaged. Remove it: the next start creates a new one.`);
  }
  const right = digest(token);
  return (other) => timingSafeEqual(digest(other), right);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
