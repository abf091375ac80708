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
  await docker(
    'build',
    '-q',
    '-f',
    join(root, 'images/server/Dockerfile'),
    '--build-arg',
    `BASE=${base}`,
    '-t',
    server,
    root,
  );
  const folder = join(root, 'images/testing');
  await docker(
    'build',
    '-q',
    '-f',
    join(folder, 'postgres.Dockerfile'),
    '--build-arg',
    `BASE=${base}`,
    '-t',
    postgres,
    folder,
  );
  project.provide('images', { base, server, postgres });
}
