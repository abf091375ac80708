import { cp, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** Builds the program as it is shipped into a directory of its own, which the caller removes. The program is `bin/botcli.js`. */
export async function buildProgram(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const directory = await mkdtemp(join(tmpdir(), 'botcli-built-'));
  await mkdir(join(directory, 'bin'));
  await writeFile(join(directory, 'package.json'), '{"type": "module"}');
  await cp(join(root, 'bin/botcli.js'), join(directory, 'bin/botcli.js'));
  await build({
    root,
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: join(directory, 'dist'), emptyOutDir: true },
  });
  return directory;
}
