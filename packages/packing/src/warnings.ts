import { formatBytes } from '@bothost/contract';
import { normalizePath } from './docker-ignore.ts';
import { readTextFile } from './folder.ts';
import type { ProjectFile, ProjectFiles } from './project-files.ts';
import { isStandardDockerfile } from './standard-dockerfile.ts';

/** Files of at least this size cause a warning, because they are rarely part of a bot. */
const largeFileBytes = 20 * 1_048_576;

/** Returns sentences about files that are probably packed or left out by mistake. They do not prevent a deployment. */
export async function findProjectWarnings({
  files,
  excluded,
  unmatchedPatterns,
}: ProjectFiles): Promise<readonly string[]> {
  const paths = new Set(files.map(({ path }) => path));
  const brokenLinks = files.filter(
    ({ link }) => link !== null && link.projectPath !== '' && !isPacked(link.projectPath, paths),
  );
  const large = files.filter(({ size }) => size >= largeFileBytes);
  const main = await readMain(files);
  const dockerfile = await readProjectText(files, 'Dockerfile');
  const reason =
    main === null ? undefined : excluded.find(({ path }) => main === path || main.startsWith(`${path}/`))?.reason;
  return [
    ...unmatchedPatterns.map(
      (pattern) =>
        `The pattern ${JSON.stringify(pattern)} below [build.exclude] in the deploy file has no effect: nothing outside excluded folders matches it. Write it relative to the project, as in .gitignore.`,
    ),
    ...large
      .slice(0, 5)
      .map(
        ({ path, size }) =>
          `${path} is large (${formatBytes(size)}). To exclude it, use [build.exclude] in the deploy file.`,
      ),
    ...(large.length > 5 ? [`${large.length - 5} more files have at least ${formatBytes(largeFileBytes)}.`] : []),
    ...brokenLinks
      .slice(0, 5)
      .map(({ path, link }) => `${path} is a link to ${link?.projectPath}, which is not packed.`),
    ...(reason === undefined
      ? []
      : [
          `${main}, the main file of package.json, is excluded (${reason}). To include it, add patterns = ["!/${main}"] below [build.exclude] in the deploy file.`,
        ]),
    ...(dockerfile === null || isStandardDockerfile(dockerfile)
      ? []
      : ['The Dockerfile is not used, because the service builds the project itself.']),
  ];
}

function isPacked(target: string, paths: ReadonlySet<string>): boolean {
  return paths.has(target) || [...paths].some((path) => path.startsWith(`${target}/`));
}

function readProjectText(files: readonly ProjectFile[], path: string): Promise<string | null> {
  const entries = files.map(
    ({ path, size, read }) => ({ name: path, kind: 'file', size: async () => size, read }) as const,
  );
  return readTextFile(entries, path);
}

async function readMain(files: readonly ProjectFile[]): Promise<string | null> {
  const text = await readProjectText(files, 'package.json');
  try {
    const { main } = JSON.parse(text ?? '{}') as { readonly main?: unknown };
    return typeof main === 'string' ? normalizePath(main) : null;
  } catch {
    // Ignore an invalid package.json, because the build reports it.
    return null;
  }
}
