// pack.mjs DIRECTORY: writes the npm packages of a release, botcli-VERSION.tgz and bothost-VERSION.tgz, into a directory. Run
// `npm run build` first, which packs botcli and bundles the code of the service. `bothost` contains the packages of this repository
// that it reads at run time (bundleDependencies), which are not published.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: node release/pack.mjs DIRECTORY');
const staging = mkdtempSync(join(tmpdir(), 'bothost-pack-'));
try {
  mkdirSync(directory, { recursive: true });
  const target = resolve(directory);
  const { version } = readManifest('packages/cli');
  cpSync(join(root, 'packages/server/dist/botcli.tgz'), join(target, `botcli-${version}.tgz`));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', target], { cwd: stageService(), stdio: 'inherit' });
} finally {
  rmSync(staging, { recursive: true });
}

function stageService() {
  const manifest = readManifest('packages/server');
  const path = stage('packages/server', 'bothost', {
    ...manifest,
    name: 'bothost',
    os: ['linux'],
    bundleDependencies: Object.keys(manifest.dependencies),
  });
  // Bundled again, because the directory in the checkout also has the files of earlier builds.
  const service = join(path, 'dist');
  execFileSync('npx', ['vite', 'build', '--outDir', service, '--emptyOutDir'], { cwd: join(root, 'packages/server') });
  cpSync(join(root, 'packages/server/dist/botcli.tgz'), join(service, 'botcli.tgz'));
  for (const name of Object.keys(manifest.dependencies)) {
    const workspace = join('node_modules', name);
    stage(workspace, join('bothost', workspace), readManifest(workspace));
  }
  for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE', 'deploy'])
    cpSync(join(root, name), join(path, name), { recursive: true });
  return path;
}

/** Copies the files of a package. */
function stage(workspace, name, { private: _, devDependencies, scripts, ...manifest }) {
  const path = join(staging, name);
  mkdirSync(path, { recursive: true });
  for (const file of manifest.files) {
    cpSync(join(root, workspace, file), join(path, file), { recursive: true, filter: isShipped });
  }
  // Make the files readable for everyone. In the checkout, they may be readable only by its owner.
  chmodSync(path, 0o755);
  writeFileSync(join(path, 'package.json'), `${JSON.stringify({ ...manifest, files: undefined }, null, 2)}\n`);
  return path;
}

function isShipped(path) {
  return !/\.pyc$|\/__pycache__$|\.egg-info$/.test(path);
}

function readManifest(workspace) {
  return JSON.parse(readFileSync(join(root, workspace, 'package.json'), 'utf8'));
}
