import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withTemporaryDirectory } from './benchmarked-service.ts';
import { parrotBotProgramPath } from './repository.ts';

const run = promisify(execFile);

/** Runs `docker` with the engine of this machine and returns its output. */
export async function docker(...words: readonly string[]): Promise<string> {
  return (await run('docker', words)).stdout.trim();
}

/** Runs `use` with the name of an image of the parrot, which is removed afterwards. The image has only Node and its libraries. */
export async function withParrotImage(use: (image: string) => Promise<void>): Promise<void> {
  const image = 'bothost-bench-parrot:1';
  await withTemporaryDirectory(async (directory) => {
    await mkdir(join(directory, 'app'));
    await copyFile(parrotBotProgramPath, join(directory, 'app/main.js'));
    await writeFile(join(directory, 'app/package.json'), '{ "type": "module" }');
    const libraries = (await run('ldd', [process.execPath])).stdout.match(/\/\S+/g) ?? [];
    const files = [process.execPath, ...libraries].map((file) => file.slice(1));
    const archive = join(directory, 'image.tar');
    await run('tar', ['-chf', archive, '-C', '/', ...files, '-C', directory, 'app']);
    await docker('import', '-c', `CMD ["${process.execPath}", "/app/main.js"]`, archive, image);
  });
  try {
    await use(image);
  } finally {
    await docker('rmi', image);
  }
}
