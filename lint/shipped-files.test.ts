import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = ['packages', 'examples', 'runtimes']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
  .filter((folder) => existsSync(join(root, folder, 'package.json')));

/** Matches the chunk of the command `cloud webhooks test`. */
const isTestCommand = /^dist\/chunks\/test-[\w-]{8}\.js$/;

/**
 * Matches paths of tests, of test support code, and of the test suite that every runtime driver (an implementation of the
 * runtime interface) must pass.
 */
const isTestFile = (path: string) =>
  !isTestCommand.test(path) &&
  /\.(?:test|setup)\.|(?:^|\/)test[-_]|(?:^|\/)(?:tests?|testing|conformance)\//.test(path);

/** Lists the files in the tarball of each package, including `dist`. */
let packed: readonly (readonly string[])[];
beforeAll(() => {
  const workspaces = packages.map((folder) => `--workspace=${folder}`);
  const command = ['pack', '--dry-run', '--json', '--ignore-scripts', ...workspaces];
  const { stdout, stderr } = spawnSync('npm', command, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  if (!stdout.startsWith('[')) throw new Error(`npm pack failed: ${stderr}`);
  const tarballs = JSON.parse(stdout) as { files: { path: string }[] }[];
  packed = tarballs.map(({ files }) => files.map(({ path }) => path));
});

// If old tests in `dist` make this test fail, delete the `dist` directories and build again.
it.each(packages.map((folder, index) => [folder, index] as const))(
  'the tarball of the package %s contains its build and no tests',
  (_, index) => {
    const files = packed[index] ?? [];
    expect(files.some((path) => /^(?:dist|src)\//.test(path))).toBe(true);
    expect(files.filter(isTestFile)).toEqual([]);
  },
);
