import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { buildBaseImage } from './base-image.ts';
import { canRunCommand, runDocker } from './commands.ts';

declare module 'vitest' {
  interface ProvidedContext {
    givenBase: string;
    baseCache: string;
    inCi: boolean;
    /** Names of the images that this test run has built. Null if no container engine is running. */
    images: { readonly base: string; readonly server: string; readonly postgres: string } | null;
  }
}

const label = 'bothost.test=true';
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the images once for all tests, and keeps them as a build cache for the next run. */
export async function setup(project: TestProject): Promise<void> {
  const { givenBase = '', baseCache = '', inCi = false } = project.config.provide;
  if (!(await canRunCommand('docker', 'info'))) {
    if (inCi) throw new Error('The image tests need a Docker engine, but none is running. Start one.');
    project.provide('images', null);
    return;
  }
  const base = givenBase || (await buildBaseImage(join(baseCache, 'bothost-images')));
  const [server, postgres] = ['bothost-test-server', 'bothost-test-postgres'] as const;
  const build = (folder: string, file: string, name: string, ...more: readonly string[]) =>
    runDocker('build', '-q', '-f', file, '--build-arg', `BASE=${base}`, '--label', label, '-t', name, ...more, folder);
  const folder = join(root, 'images/testing');
  const file = join(root, 'images/server/Dockerfile');
  await Promise.all([
    // Tag the image of the build stage, so that `docker image prune` keeps its layers as a cache for the next run.
    build(root, file, 'bothost-test-build', '--target', 'build').then(() => build(root, file, server)),
    build(folder, join(folder, 'postgres.Dockerfile'), postgres),
  ]);
  // Remove the images of earlier runs. They have no tags, because the new images use the same tags.
  await runDocker('image', 'prune', '--force', '--filter', `label=${label}`);
  project.provide('images', { base, server, postgres });
}
