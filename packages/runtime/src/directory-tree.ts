import { type Dirent, existsSync } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { isEnvFile } from '@bothost/contract';
import { iterateProjectEntries, rethrowProjectError } from './project-entries.ts';
import { ProjectPreparationError } from './runtime.ts';

/** A file, directory or link of a project. `path` is relative to the project and uses `/`. */
export type TreeEntry =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly executable: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

export type DirectoryTree = { readonly entries: readonly TreeEntry[]; readonly skipped: readonly string[] };

/**
 * Lists the entries of a project. `entries` contains files, directories and links in a fixed order, parents first, without
 * `.git`, `__pycache__` and virtual environments. `skipped` contains `.env` files, which are not copied. Rejects with
 * `ProjectPreparationError` if an entry cannot be read, is of another kind, or is a link that leads out of the project.
 */
export async function readDirectoryTree(root: string): Promise<DirectoryTree> {
  const entries: TreeEntry[] = [];
  const skipped: string[] = [];
  const base = await realpath(root).catch((error: unknown) => {
    throw new ProjectPreparationError(`The directory ${root} is not readable.`, { cause: error });
  });
  const visit = async (folder: string): Promise<void> => {
    const found: Dirent[] = [];
    for await (const entry of iterateProjectEntries(join(base, folder))) found.push(entry);
    found.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of found) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === '.git' || entry.name === '__pycache__') continue;
      if (entry.isDirectory() && isVirtualEnvironment(join(base, path))) continue;
      if (isEnvFile(entry.name)) {
        skipped.push(path);
      } else if (entry.isDirectory()) {
        entries.push({ kind: 'directory', path });
        await visit(path);
      } else if (entry.isSymbolicLink()) {
        entries.push({ kind: 'link', path, target: await linkWithin(base, path) });
      } else if (entry.isFile()) {
        const { mode } = await stat(join(base, path));
        entries.push({ kind: 'file', path, executable: (mode & 0o111) !== 0 });
      } else {
        throw new ProjectPreparationError(`${path} is not a file, directory or link. Remove it from the project.`);
      }
    }
  };
  await visit('').catch(rethrowProjectError);
  return { entries, skipped };
}

/** A directory that contains `pyvenv.cfg` is a Python virtual environment (PEP 405). */
function isVirtualEnvironment(path: string): boolean {
  return existsSync(join(path, 'pyvenv.cfg'));
}

/** Makes a link's target relative, so that copies keep it. Rejects with `ProjectPreparationError` if it leads out. */
async function linkWithin(base: string, path: string): Promise<string> {
  const link = join(base, path);
  const target = resolve(link, '..', await readlink(link));
  const inside = (name: string) => name === base || name.startsWith(base + sep);
  // A dangling link has no real path, but its target must still be inside the project.
  const real = await realpath(link).catch(() => target);
  if (!inside(target) || !inside(real)) {
    throw new ProjectPreparationError(
      `The link ${path} leads out of the project (to ${target}). Copy its target into the project.`,
    );
  }
  return relative(resolve(link, '..'), target) || '.';
}
