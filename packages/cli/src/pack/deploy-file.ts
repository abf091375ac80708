import type { DeployFile } from '@bothost/contract';
import { parseDeployFile } from '@bothost/packing';
import { toFailure } from './packing-failure.ts';

/** Parses a deploy file. `name` is its path for messages. Throws a `Failure` with all problems. */
export function readDeployFile(text: string, name: string): DeployFile {
  try {
    return parseDeployFile(text, name);
  } catch (error) {
    throw toFailure(error);
  }
}
