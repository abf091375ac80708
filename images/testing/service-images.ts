import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { runDocker } from './commands.ts';

const label = 'bothost.test=true';
const root = fileURLToPath(new URL('../..', import.meta.url));

export const noEngine = inject('baseImage') === null ? 'no Docker engine is running' : null;

/** Milliseconds to build the images without a cache. */
export const buildImagesTimeoutMs = 15 * 60_000;

/** Builds the images of the service and of its database. The engine keeps them as a build cache for the next call. */
export async function buildServiceImages(): Promise<{ readonly server: string; readonly postgres: string }> {
  const [server, postgres] = ['bothost-test-server', 'bothost-test-postgres'] as const;
  const base = ['--build-arg', `BASE=${inject('baseImage')}`, '--label', label];
  const build = (folder: string, file: string, name: string, ...more: readonly string[]) =>
    runDocker('build', '-q', '-f', file, ...base, '-t', name, ...more, folder);
  const folder = join(root, 'images/testing');
  const file = join(root, 'images/server/Dockerfile');
  await Promise.all([
    // Tag the image of the build stage, so that `docker image prune` keeps its layers as a cache for the next run.
    build(root, file, 'bothost-test-build', '--target', 'build').then(() => build(root, file, server)),
    build(folder, join(folder, 'postgres.Dockerfile'), postgres),
  ]);
  // Remove the images of earlier runs. They have no tags, because the new images use the same tags.
  await runDocker('image', 'prune', '--force', '--filter', `label=${label}`);
  return { server, postgres };
}
