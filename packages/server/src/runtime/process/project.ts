import { constants, readFileSync, statSync } from 'node:fs';
import { chmod, chown, copyFile, lchown, mkdir, readdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { readTree } from '../directory-tree.ts';
import { type Prepared, PrepareError, type PrepareSpec } from '../runtime.ts';
import { FIRST_ID, LAST_ID, preferredId } from './accounts.ts';

/** A project of the data directory. `gid`: the group that may read it, that of its instances; null without own accounts. */
export type Project = { readonly project: string; readonly main: string; readonly gid: number | null };

const preparedSchema = z.object({ project: z.string(), main: z.string(), gid: z.int().nullable() });

/** Reads back what `prepareProject` gave; throws when it is something else. */
export function parsePrepared(prepared: Prepared): Project {
  return preparedSchema.parse(prepared);
}

export type PrepareOptions = {
  readonly projectsDirectory: string;
  readonly ownAccounts: boolean;
  readonly output: (line: string) => void;
};

/**
 * Copies a source directory to where instances run from, whole or not at all: the copy gets its name when it is complete.
 * A deployment never changes, so what is there already is taken as it is. Rejects with `PrepareError`.
 */
export async function prepareProject(options: PrepareOptions, spec: PrepareSpec): Promise<Project> {
  const { id, source } = spec;
  const target = join(options.projectsDirectory, id);
  const present = statSync(target, { throwIfNoEntry: false });
  // A group outside the range is that of an ordinary user who ran the service here before: bots must not get it.
  const isUsable =
    present !== undefined && (!options.ownAccounts || (present.gid >= FIRST_ID && present.gid <= LAST_ID));
  if (isUsable) {
    return { project: id, main: findMain(target), gid: options.ownAccounts ? present.gid : null };
  }
  if ((await stat(source.path).catch(() => null))?.isDirectory() !== true) {
    throw new PrepareError(`${source.path} is not a directory.`);
  }
  const main = findMain(source.path);
  const gid = options.ownAccounts ? await chooseGroup(options.projectsDirectory, id) : null;
  const copy = join(options.projectsDirectory, `.new-${id}`);
  await rm(copy, { recursive: true, force: true });
  const leftOut = await copyTree(source.path, copy, gid);
  for (const path of leftOut)
    options.output(`${path} is left out of the deployment: its variables would beat the agent's`);
  if (present !== undefined) await discardProject(options.projectsDirectory, id);
  await rename(copy, target);
  return { project: id, main, gid };
}

/** Idempotent. Renamed first, so that a half removed project is never taken for a whole one. */
export async function discardProject(projectsDirectory: string, project: string): Promise<void> {
  const old = join(projectsDirectory, `.old-${project}`);
  await rm(old, { recursive: true, force: true });
  await rename(join(projectsDirectory, project), old).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  });
  await rm(old, { recursive: true, force: true });
}

async function copyTree(from: string, to: string, gid: number | null): Promise<readonly string[]> {
  const { entries, leftOut } = await readTree(from);
  const own = async (path: string, mode: number) => {
    if (gid !== null) await chown(path, 0, gid);
    await chmod(path, mode);
  };
  await mkdir(to, { mode: 0o700 });
  for (const entry of entries) {
    const path = join(to, entry.path);
    if (entry.kind === 'directory') {
      await mkdir(path);
      await own(path, 0o750);
    } else if (entry.kind === 'link') {
      await symlink(entry.target, path);
      if (gid !== null) await lchown(path, 0, gid);
    } else {
      await copyFile(join(from, entry.path), path, constants.COPYFILE_FICLONE);
      await own(path, entry.executable ? 0o750 : 0o640);
    }
  }
  await own(to, 0o750);
  return leftOut;
}

/** A group that no other project of this data directory has. */
async function chooseGroup(projectsDirectory: string, id: string): Promise<number> {
  const taken = new Set<number>();
  for (const name of await readdir(projectsDirectory)) {
    taken.add((await stat(join(projectsDirectory, name)).catch(() => null))?.gid ?? 0);
  }
  const count = LAST_ID - FIRST_ID + 1;
  const first = preferredId(join(projectsDirectory, id)) - FIRST_ID;
  for (let step = 0; step < count; step++) {
    const gid = FIRST_ID + ((first + step) % count);
    if (!taken.has(gid)) return gid;
  }
  throw new PrepareError('There are too many deployments on this machine; delete agents that are not needed any more.');
}

const manifestSchema = z.object({ main: z.string().min(1).optional() });

/** The file that `node` is to run, relative to the project: `main` of package.json, else index.js. */
function findMain(directory: string): string {
  const main = readManifest(join(directory, 'package.json')).main ?? 'index.js';
  const absolute = resolve(directory, main);
  if (!absolute.startsWith(resolve(directory) + sep)) {
    throw new PrepareError(`"main" of package.json leads out of the project: ${main}`);
  }
  for (const candidate of [main, `${main}.js`, join(main, 'index.js')]) {
    if (statSync(join(directory, candidate), { throwIfNoEntry: false })?.isFile() === true) return candidate;
  }
  throw new PrepareError(`The project has no ${main}: name its file to start in "main" of package.json.`);
}

function readManifest(path: string): z.infer<typeof manifestSchema> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return {};
  }
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new PrepareError('package.json is not valid: it has to be a JSON object, "main" a string.', { cause: error });
  }
}
