import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const fromRoot = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** Tests in a browser see the service as it is shipped: built before them, so that no stale build makes one pass. */
export async function setup(): Promise<void> {
  // Whether the types are right is `npm run check`'s to say.
  spawnSync(execPath, [fromRoot('node_modules/typescript/bin/tsc'), '-b', fromRoot('packages/server')]);
  for (const project of ['packages/dashboard', 'examples/parrot']) {
    await build({ root: fromRoot(project), configFile: fromRoot(`${project}/vite.config.ts`), logLevel: 'error' });
  }
}
