import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

/** Builds service and botcli anew: programs that were not built since a change would only show what they were. */
export async function buildPrograms(): Promise<void> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  spawnSync(execPath, ['node_modules/typescript/bin/tsc', '-b', 'packages/server'], { cwd: root });
  const { build } = await import('vite');
  const place = fileURLToPath(new URL('../packages/cli', import.meta.url));
  await build({ root: place, configFile: `${place}/vite.config.ts`, logLevel: 'error' });
}
