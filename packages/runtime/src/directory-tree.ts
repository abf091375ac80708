import { type Dirent, existsSync } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { projectEntries, throwProjectError } from './project-entries.ts';
import { PrepareError } from './runtime.ts';

/** One thing of a project, by its path below the project with `/` between the parts. */
export type TreeEntry =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly executable: boolean }
  | { readonly kind: 'link'; readonly path: string; readonly target: string };

export type Tree = { readonly entries: readonly TreeEntry[]; readonly leftOut: readonly string[] };

/**
 * What belongs to a project in a directory, in a fixed order, parents first. `.git`, Python's caches and its virtual
 * environments, which hold for one place only, are not part of it; a `.env` is left out and named, because it would override
 * the variables of the service (bot contract 2.4). Rejects with `PrepareError` at a link that leads out of the directory, at
 * anything that is neither file, directory nor link, and at what cannot be read.
 */
export async function readTree(root: string): Promise<Tree> {
  const entries: TreeEntry[] = [];
  const leftOut: string[] = [];
  const base = await realpath(root).catch((error: unknown) => {
    throw new PrepareError(`The directory ${root} cannot be read.`, { cause: error });
  });
  const visit = async (folder: string): Promise<void> => {
    const found: Dirent[] = [];
    for await (const entry of projectEntries(join(base, folder))) found.push(entry);
    found.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of found) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === '.git' || entry.name === '__pycache__') continue;
      if (entry.isDirectory() && isVirtualEnvironment(join(base, path))) continue;
      if (entry.name === '.env') {
        leftOut.push(path);
      } else if (entry.isDirectory()) {
        entries.push({ kind: 'directory', path });
        await visit(path);
      } else if (entry.isSymbolicLink()) {
        entries.push({ kind: 'link', path, target: await linkWithin(base, path) });
      } else if (entry.isFile()) {
        const { mode } = await stat(join(base, path));
        entries.push({ kind: 'file', path, executable: (mode & 0o111) !== 0 });
      } else {
        throw new PrepareError(`${path} is neither a file, a directory nor a link, so it cannot be part of a project.`);
      }
    }
  };
  await visit('').catch(throwProjectError);
  return { entries, leftOut };
}

/** By the file that PEP 405 asks for. */
function isVirtualEnvironment(path: string): boolean {
  return existsSync(join(path, 'pyvenv.cfg'));
}

/** The target, relative to the link, so that it holds in a copy too. */
async function linkWithin(base: string, path: string): Promise<string> {
  const place = join(base, path);
  const target = resolve(place, '..', await readlink(place));
  const inside = (name: string) => name === base || name.startsWith(base + sep);
  // A dangling link has no real path and leads nowhere; the words of the link must still stay inside.
  const real = await realpath(place).catch(() => target);
  if (!inside(target) || !inside(real)) {
    throw new PrepareError(
      `The link ${path} leads out of the project (to ${target}); put what it names into the project.`,
    );
  }
  return relative(resolve(place, '..'), target) || '.';
}
