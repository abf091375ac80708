import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment, PackageManager } from '../config.ts';

/** What each leaves beside the packages of a project. */
const locks: readonly (readonly [string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
];

/** What installs a client's packages: what ran this program, else what locked the project or one above it, else npm. */
export function packageManagerFor(directory: string, environment: Pick<Environment, 'packageManager'>): PackageManager {
  if (environment.packageManager !== null) return environment.packageManager;
  for (let place = join(directory, 'client'); ; place = dirname(place)) {
    const found = locks.find(([file]) => existsSync(join(place, file)));
    if (found !== undefined) return found[1];
    if (place === dirname(place)) return 'npm';
  }
}
