import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildBaseImage } from './base-image.ts';
import { canRunCommand } from './commands.ts';

declare module 'vitest' {
  interface ProvidedContext {
    givenBase: string;
    baseCache: string;
    inCi: boolean;
    /** Name of the image on which the images of tests are based. Null if no container engine is running. */
    baseImage: string | null;
  }
}

/** Makes the base image once for all tests, and keeps it for the next run. */
export async function setup(project: TestProject): Promise<void> {
  const { givenBase = '', baseCache = '', inCi = false } = project.config.provide;
  if (await canRunCommand('docker', 'info')) {
    project.provide('baseImage', givenBase || (await buildBaseImage(join(baseCache, 'bothost-images'))));
    return;
  }
  if (inCi) throw new Error('The tests of images and containers need a Docker engine, but none is running. Start one.');
  project.provide('baseImage', null);
}
