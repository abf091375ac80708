import type { DeployFile, DeploySource } from '@bothost/contract';
import { parseDeployFile } from '@bothost/packing';
import { convertPackingError } from './packing-failure.ts';

/** Parses a deploy file. Messages refer to the file by `name`, its path. `findSource` is as in `parseDeployFile`. Throws one `Failure` with all problems of the file. */
export function readDeployFile(text: string, name: string, findSource: (file: DeployFile) => DeploySource): DeployFile {
  try {
    return parseDeployFile(text, name, findSource);
  } catch (error) {
    throw convertPackingError(error);
  }
}
