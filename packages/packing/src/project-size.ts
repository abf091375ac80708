import { formatBytes, maxUploadBytes, unpackedArchiveLimits } from '@bothost/contract';
import { PackingError } from './packing-error.ts';
import type { ProjectFile } from './project-files.ts';

/** Throws a `PackingError` if a project is empty or larger than the service accepts, so that it fails before its upload. */
export function checkProjectSize(files: readonly ProjectFile[]): void {
  if (files.length === 0) {
    throw new PackingError(
      'project-empty',
      'The project has no files to pack.',
      'The ignore files of the project exclude everything.',
    );
  }
  if (files.length > unpackedArchiveLimits.entries) {
    throw new PackingError(
      'project-too-large',
      `The project has ${files.length} files; the limit is ${unpackedArchiveLimits.entries}.`,
    );
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const limit = unpackedArchiveLimits.bytes;
  if (bytes > limit)
    throw createTooLargeError(files, `The project is ${formatBytes(bytes)}; the limit is ${formatBytes(limit)}.`);
}

/** Throws a `PackingError` if the archive of `files` is larger than the service accepts. */
export function checkArchiveSize(files: readonly ProjectFile[], archiveBytes: number): void {
  if (archiveBytes <= maxUploadBytes) return;
  throw createTooLargeError(files, `The packed project is larger than the limit of ${formatBytes(maxUploadBytes)}.`);
}

function createTooLargeError(files: readonly ProjectFile[], problem: string): PackingError {
  return new PackingError(
    'project-too-large',
    problem,
    'Exclude files that the bot does not need. The largest files:',
    [...files]
      .sort((a, b) => b.size - a.size)
      .slice(0, 5)
      .map((file) => ({ path: file.path, message: formatBytes(file.size) })),
  );
}
