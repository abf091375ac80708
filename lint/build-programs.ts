import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Builds the service in its place: one that was not built since a change would only show what it was. */
export function buildService(): void {
  spawnSync(execPath, ['node_modules/typescript/bin/tsc', '-b', 'packages/server'], { cwd: root });
}

/** Builds `botcli` into a folder of its own, where no other test runs it, and answers the folder to put on the path. */
export async function buildBotcli(folder: string): Promise<string> {
  const source = join(root, 'packages/cli');
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await cp(join(source, 'bin/botcli.js'), join(bin, 'botcli'));
  await chmod(join(bin, 'botcli'), 0o755);
  const outDir = join(folder, 'dist');
  await build({ root: source, configFile: join(source, 'vite.config.ts'), logLevel: 'error', build: { outDir } });
  return bin;
}
