import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { unpackedArchiveLimits, uploadBytes } from '@bothost/contract';
import { Failure } from '../failure.ts';
import { formatBytes } from '../output/format.ts';
import type { Archive } from './archive.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';

/** Larger files are rarely part of a bot, so they cause a warning. */
const largeFileBytes = 20 * 1_048_576;

export async function findWarnings(root: string, { files, excluded }: ProjectFiles): Promise<readonly string[]> {
  const paths = new Set(files.map(({ path }) => path));
  const brokenLinks = files.filter(({ target }) => target !== null && target !== '' && !isPacked(target, paths));
  const large = files.filter(({ size }) => size >= largeFileBytes);
  const main = await readMain(root, paths);
  const reason =
    main === null ? undefined : excluded.find(({ path }) => main === path || main.startsWith(`${path}/`))?.reason;
  return [
    ...large
      .slice(0, 5)
      .map(
        ({ path, size }) =>
          `${path} is large (${formatBytes(size)}). To exclude it, use [build.exclude] in the deploy file.`,
      ),
    ...(large.length > 5 ? [`${large.length - 5} more files have at least ${formatBytes(largeFileBytes)}.`] : []),
    ...brokenLinks.slice(0, 5).map(({ path, target }) => `${path} is a link to ${target}, which is not packed.`),
    ...(reason === undefined
      ? []
      : [
          `${main}, the main file of package.json, is excluded (${reason}). To include it, add patterns = ["!/${main}"] below [build.exclude] in the deploy file.`,
        ]),
    ...(paths.has('Dockerfile') ? ['The Dockerfile is not used, because the service builds the project itself.'] : []),
  ];
}

function isPacked(target: string, paths: ReadonlySet<string>): boolean {
  return paths.has(target) || [...paths].some((path) => path.startsWith(`${target}/`));
}

async function readMain(root: string, paths: ReadonlySet<string>): Promise<string | null> {
  if (!paths.has('package.json')) return null;
  try {
    const { main } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { main?: unknown };
    return typeof main === 'string' ? posix.normalize(main) : null;
  } catch {
    // The build reports an invalid package.json.
    return null;
  }
}

/** Makes the same checks as the service, so that they fail before the upload. */
export function checkSize(files: readonly ProjectFile[], archive: Archive | null): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length === 0) {
    throw new Failure(
      'project-empty',
      'The project has no files to pack.',
      'The ignore files of the project exclude everything.',
    );
  }
  if (files.length > unpackedArchiveLimits.entries) {
    throw new Failure(
      'project-too-large',
      `The project has ${files.length} files; the limit is ${unpackedArchiveLimits.entries}.`,
    );
  }
  const problem =
    bytes > unpackedArchiveLimits.bytes
      ? `The project is ${formatBytes(bytes)}; the limit is ${formatBytes(unpackedArchiveLimits.bytes)}.`
      : archive !== null && archive.bytes > uploadBytes
        ? `The packed project is ${formatBytes(archive.bytes)}; the limit is ${formatBytes(uploadBytes)}.`
        : null;
  if (problem === null) return;
  throw new Failure(
    'project-too-large',
    problem,
    'Exclude files that the bot does not need. The largest files:',
    [...files]
      .sort((a, b) => b.size - a.size)
      .slice(0, 5)
      .map((file) => ({ path: file.path, message: formatBytes(file.size) })),
  );
}
