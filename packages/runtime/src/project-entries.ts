import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { ProjectPreparationError } from './runtime.ts';

const pathBytes = 4095;

/** Yields entries one by one, because a list could fill the memory. Throws `ProjectPreparationError` if a name is not UTF-8. */
export async function* iterateProjectEntries(directory: string): AsyncGenerator<Dirent> {
  let isChecked = false;
  for await (const entry of await opendir(directory, { bufferSize: 1024 })) {
    if (!isChecked && entry.name.includes('\ufffd')) {
      await requireUtf8Names(directory);
      isChecked = true;
    }
    yield entry;
  }
}

async function requireUtf8Names(directory: string): Promise<void> {
  // Read names as Latin-1, which keeps every byte. Iterate, because a list of all names could fill the server's memory.
  for await (const { name: characters } of await opendir(directory, { bufferSize: 1024, encoding: 'latin1' })) {
    const name = Buffer.from(characters, 'latin1');
    if (isUtf8(name)) continue;
    throw new ProjectPreparationError(
      `The name "${escapeBytes(name)}" in the project is not UTF-8. Rename the file or directory.`,
    );
  }
}

/** Throws a `ProjectPreparationError` if the content of a project caused the file system error, otherwise the error itself. */
export function rethrowProjectError(error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENAMETOOLONG') {
    const message = `The project has a path that is longer than the ${pathBytes} bytes that Linux allows. Nest its directories less deeply.`;
    throw new ProjectPreparationError(message, { cause: error });
  }
  if (code === 'EACCES' && error instanceof Error && 'path' in error) {
    throw new ProjectPreparationError(`The service has no permission to read ${error.path} of the project.`, {
      cause: error,
    });
  }
  throw error;
}

function escapeBytes(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[^ -~]|["\\]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
