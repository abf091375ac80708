import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { keepOnce } from './data-directory.ts';

/**
 * Whether a token is the operator's: the one of the settings, or of a file in the data directory, which is made once. Who can
 * read that file is who has the machine.
 *
 * @throws OperatorError when the file is damaged
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
