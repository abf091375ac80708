import type { DeployFile } from '@bothost/contract';
import { parseDeployFile } from '@bothost/packing';
import { convertPackingError } from './packing-failure.ts';

/** Parses a deploy file. Messages refer to the file by `name`, its path. Throws one `Failure` with all problems of the file. */
export function readDeployFile(text: string, name: string): DeployFile {
  try {
    return parseDeployFile(text, name);
  } catch (error) {
    throw convertPackingError(error);
  }
}
