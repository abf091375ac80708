import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arch } from 'node:process';
import { fileURLToPath } from 'node:url';
import { canRunCommand, readCommandOutput, runDocker } from './commands.ts';

const nodeVersion = '24.21.0';
const npmVersion = '11.19.1';
const release = 'bookworm';
const mirror = 'http://deb.debian.org/debian';
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Makes a base image without an image registry: Debian from debootstrap, Node and npm from the npm registry, and the certificate
 * authorities of this machine. Until this file changes, later runs reuse the file system in the cache directory and the image in
 * the container engine.
 */
export async function buildBaseImage(cache: string): Promise<string> {
  const recipe = await readFile(fileURLToPath(import.meta.url));
  const key = createHash('sha256').update(recipe).digest('hex').slice(0, 12);
  const name = `bothost-test-base:${key}`;
  if (await canRunCommand('docker', 'image', 'inspect', name)) return name;
  await mkdir(cache, { recursive: true });
  const archive = join(cache, `base-${key}.tar`);
  if (!(await canRunCommand('test', '-f', archive))) await makeArchive(archive);
  await runDocker('import', '--change', `ENV NODE_EXTRA_CA_CERTS=${authorities}`, archive, name);
  return name;
}

async function makeArchive(archive: string): Promise<void> {
  const tree = await mkdtemp(join(tmpdir(), 'bothost-base-'));
  const unfinished = `${archive}.${process.pid}`;
  try {
    await readCommandOutput('debootstrap', '--variant=minbase', '--include=ca-certificates', release, tree, mirror);
    // Install the npm package that contains the Node executable for this platform. The npm package `node` is only a wrapper.
    const node = `node-linux-${arch}`;
    const prefix = ['--global', '--prefix', join(tree, 'usr'), '--no-audit', '--no-fund'];
    await readCommandOutput('npm', 'install', ...prefix, `${node}@${nodeVersion}`, `npm@${npmVersion}`);
    await rename(join(tree, 'usr/lib/node_modules', node, 'bin/node'), join(tree, 'usr/bin/node'));
    await rm(join(tree, 'usr/lib/node_modules', node), { recursive: true });
    await cp(authorities, join(tree, authorities));
    const excluded = ['--exclude=./var/cache/apt/*', '--exclude=./var/lib/apt/lists/*', '--exclude=./dev/*'];
    await readCommandOutput('tar', '-C', tree, ...excluded, '-cf', unfinished, '.');
    await rename(unfinished, archive);
  } finally {
    await Promise.all([tree, unfinished].map((path) => rm(path, { recursive: true, force: true })));
  }
}
