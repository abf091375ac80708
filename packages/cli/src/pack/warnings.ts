import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { unpackedArchive, uploadBytes } from '@bothost/contract';
import { Failure } from '../failure.ts';
import { formatBytes } from '../output/format.ts';
import type { Archive } from './archive.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';

/** Files of at least this size cause a warning: they are rarely part of a bot. */
const largeBytes = 20 * 1_048_576;

/** Warnings about files that are probably packed or excluded by mistake. */
export async function warningsAbout(root: string, { files, excluded }: ProjectFiles): Promise<readonly string[]> {
  const paths = new Set(files.map(({ path }) => path));
  const brokenLinks = files.filter(({ target }) => target !== null && target !== '' && !isPacked(target, paths));
  const large = files.filter(({ size }) => size >= largeBytes);
  const main = await readMain(root, paths);
  const reason =
    main === null ? undefined : excluded.find(({ path }) => main === path || main.startsWith(`${path}/`))?.reason;
  return [
    ...large
      .slice(0, 5)
      .map(({ path, size }) => `${path} is large (${formatBytes(size)}); [build.exclude] leaves it out.`),
    ...(large.length > 5 ? [`${large.length - 5} more files are that large.`] : []),
    ...brokenLinks.slice(0, 5).map(({ path, target }) => `${path} is a link to ${target}, which is not packed.`),
    ...(reason === undefined
      ? []
      : [
          `${main}, which package.json names as main, is left out (${reason}); patterns = ["!/${main}"] below [build.exclude] includes it.`,
        ]),
    ...(paths.has('Dockerfile') ? ['The Dockerfile is not used: the service prepares the project itself.'] : []),
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

/** Checks the limits of the service before anything is sent. */
export function checkSize(files: readonly ProjectFile[], archive: Archive | null): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length === 0) {
    throw new Failure('project-empty', 'The project has no files to pack.', 'Its ignore files exclude everything.');
  }
  if (files.length > unpackedArchive.entries) {
    throw new Failure(
      'project-too-large',
      `The project has ${files.length} files; the limit is ${unpackedArchive.entries}.`,
    );
  }
  const tooLarge = bytes > unpackedArchive.bytes ? [bytes, unpackedArchive.bytes, ''] : null;
  const packed = archive !== null && archive.bytes > uploadBytes ? [archive.bytes, uploadBytes, ', packed'] : null;
  const excess = tooLarge ?? packed;
  if (excess === null) return;
  const [size, limit, how] = excess as [number, number, string];
  throw new Failure(
    'project-too-large',
    `The project is ${formatBytes(size)}${how}; the limit is ${formatBytes(limit)}.`,
    'Exclude files that the bot does not need. The largest files:',
    [...files]
      .sort((a, b) => b.size - a.size)
      .slice(0, 5)
      .map((file) => ({ path: file.path, message: formatBytes(file.size) })),
  );
}
