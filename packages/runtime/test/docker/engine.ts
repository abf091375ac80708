import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Name of the image on which the images of tests are based. Null if no container engine is running. */
    baseImage: string | null;
  }
}

const run = promisify(execFile);

export const noEngine = inject('baseImage') === null ? 'no Docker engine is running' : null;

/** Runs `docker` and returns its standard output. */
export async function runDocker(...words: readonly string[]): Promise<string> {
  return (await run('docker', words, { maxBuffer: 64 * 1_048_576 })).stdout.trim();
}

/** Builds the image of a directory whose Dockerfile takes the base image of tests as the argument `BASE`. */
export async function buildImage(name: string, directory: string): Promise<void> {
  // The network of the machine, because a further engine on it may have removed the bridge of this one.
  const options = ['--network', 'host', '--build-arg', `BASE=${inject('baseImage')}`, '--label', 'bothost.test=true'];
  await runDocker('build', '-q', ...options, '-t', name, directory);
}

/** Builds an image that runs `node index.js` with these files, and returns its id. Equal files give the same image. */
export async function buildNodeImage(files: Readonly<Record<string, string>>, directory: string): Promise<string> {
  await mkdir(directory);
  for (const [path, content] of Object.entries(files)) await writeFile(join(directory, path), content);
  const recipe = `FROM ${inject('baseImage')}\nLABEL bothost.test=true\nWORKDIR /app\nCOPY . .\nCMD ["node", "index.js"]\n`;
  await writeFile(join(directory, 'Dockerfile'), recipe);
  return runDocker('build', '-q', directory);
}
