import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { OperatorError } from '../operator-error.ts';
import { readOrCreateFile } from './data-directory.ts';

/**
 * Returns a function that checks whether a token is the operator's token. `configuredToken` is the token from the settings. If it
 * is undefined, the first start creates a token in a file of the data directory, which only the service's account can read.
 *
 * @throws OperatorError if the file is damaged
 */
export async function createOperatorTokenCheck(
  dataDirectory: string,
  configuredToken: string | undefined,
): Promise<(token: string) => boolean> {
  const file = join(dataDirectory, 'operator-token');
  const token = configuredToken ?? (await readOrCreateFile(file, 0o600, () => randomBytes(32).toString('hex')));
  if (token.length < 32) {
    throw new OperatorError(`The file ${file} is damaged. Remove the file; the next start creates a new one.`);
  }
  const right = digest(token);
  return (other) => timingSafeEqual(digest(other), right);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
