import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath, version } from 'node:process';
import { fileURLToPath } from 'node:url';
import { docker, output, works } from './commands.ts';

const release = 'bookworm';
const mirror = 'http://deb.debian.org/debian';
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Makes a base image without a registry: Debian from debootstrap with this machine's Node, npm and certificate authorities.
 * The cache keeps the file system and the engine keeps the image until this file or the version of Node changes.
 */
export async function baseImage(cache: string): Promise<string> {
  const recipe = await readFile(fileURLToPath(import.meta.url));
  const key = createHash('sha256').update(recipe).update(version).digest('hex').slice(0, 12);
  const name = `bothost-test-base:${key}`;
  if (await works('docker', 'image', 'inspect', name)) return name;
  await mkdir(cache, { recursive: true });
  const archive = join(cache, `base-${key}.tar`);
  if (!(await works('test', '-f', archive))) await makeArchive(archive);
  await docker('import', '--change', `ENV NODE_EXTRA_CA_CERTS=${authorities}`, archive, name);
  return name;
}

async function makeArchive(archive: string): Promise<void> {
  const tree = await mkdtemp(join(tmpdir(), 'bothost-base-'));
  const unfinished = `${archive}.${process.pid}`;
  try {
    await output('debootstrap', '--variant=minbase', '--include=ca-certificates', release, tree, mirror);
    const modules = join(tree, 'usr/lib/node_modules');
    await mkdir(modules, { recursive: true });
    await cp(execPath, join(tree, 'usr/bin/node'));
    await cp(await npmFolder(), join(modules, 'npm'), { recursive: true, dereference: true });
    for (const program of ['npm', 'npx']) {
      await symlink(`../lib/node_modules/npm/bin/${program}-cli.js`, join(tree, 'usr/bin', program));
    }
    await cp(authorities, join(tree, authorities));
    const excluded = ['--exclude=./var/cache/apt/*', '--exclude=./var/lib/apt/lists/*', '--exclude=./dev/*'];
    await output('tar', '-C', tree, ...excluded, '-cf', unfinished, '.');
    await rename(unfinished, archive);
  } finally {
    await Promise.all([tree, unfinished].map((path) => rm(path, { recursive: true, force: true })));
  }
}

/** The directory of the npm on `PATH`, which is a link to `bin/npm-cli.js` in it. */
async function npmFolder(): Promise<string> {
  const program = await output('sh', '-c', 'readlink -f "$(command -v npm)"');
  return dirname(dirname(program));
}
