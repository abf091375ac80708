import { cp, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/**
 * Builds botcli as it is shipped, into a new directory that the caller removes. The program is `bin/botcli.js` in this directory.
 */
export async function buildBotcli(): Promise<string> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const directory = await mkdtemp(join(tmpdir(), 'botcli-built-'));
  await writeFile(join(directory, 'package.json'), '{"type": "module"}');
  await cp(join(root, 'bin'), join(directory, 'bin'), { recursive: true });
  await build({
    root,
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir: join(directory, 'dist'), emptyOutDir: true },
  });
  return directory;
}
