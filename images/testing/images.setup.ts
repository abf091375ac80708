import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { baseImage } from './base-image.ts';
import { docker, works } from './commands.ts';

declare module 'vitest' {
  interface ProvidedContext {
    givenBase: string;
    baseCache: string;
    inCi: boolean;
    /** The images of this run; null without an engine. */
    images: { readonly base: string; readonly server: string; readonly postgres: string } | null;
  }
}

const label = 'bothost.test=true';
const root = fileURLToPath(new URL('../..', import.meta.url));

/** vitest's global setup: builds the images once, from what is in the working tree. They are kept: the next run builds less. */
export async function setup(project: TestProject): Promise<void> {
  const { givenBase = '', baseCache = '', inCi = false } = project.config.provide;
  if (!(await works('docker', 'info'))) {
    if (inCi) throw new Error('The images need a Docker engine, and none answers.');
    console.log('No Docker engine answers here: the images are not tested.');
    project.provide('images', null);
    return;
  }
  const base = givenBase || (await baseImage(join(baseCache, 'bothost-images')));
  const [server, postgres] = ['bothost-test-server', 'bothost-test-postgres'] as const;
  const build = (folder: string, file: string, name: string, ...more: readonly string[]) =>
    docker('build', '-q', '-f', file, '--build-arg', `BASE=${base}`, '--label', label, '-t', name, ...more, folder);
  const folder = join(root, 'images/testing');
  const file = join(root, 'images/server/Dockerfile');
  await Promise.all([
    // Its first stage has a name of its own, which keeps what it installed for the next run.
    build(root, file, 'bothost-test-build', '--target', 'build').then(() => build(root, file, server)),
    build(folder, join(folder, 'postgres.Dockerfile'), postgres),
  ]);
  // What these names meant before.
  await docker('image', 'prune', '--force', '--filter', `label=${label}`);
  project.provide('images', { base, server, postgres });
}
