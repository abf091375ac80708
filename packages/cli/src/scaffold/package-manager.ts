import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { EnvironmentVariableSettings, PackageManager } from '../config.ts';

const locks: readonly (readonly [string, PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
];

/** The package manager that ran botcli, else that of the nearest lock file, else npm. */
export function detectPackageManager(
  directory: string,
  environment: Pick<EnvironmentVariableSettings, 'packageManager'>,
): PackageManager {
  if (environment.packageManager !== null) return environment.packageManager;
  for (let folder = join(directory, 'client'); ; folder = dirname(folder)) {
    const lock = locks.find(([file]) => existsSync(join(folder, file)));
    if (lock !== undefined) return lock[1];
    if (folder === dirname(folder)) return 'npm';
  }
}
