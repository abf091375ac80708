// set-version.mjs VERSION: sets the version of all packages. In CHANGELOG.md, moves the unreleased changes below a heading with
// the version and today's date. Changes the files of the current directory.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [next = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(next)) throw new Error('usage: node release/set-version.mjs MAJOR.MINOR.PATCH');
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const workspaces = Object.keys(lock.packages).filter((path) => path !== '' && !path.includes('node_modules'));
const names = new Set(workspaces.map((path) => readManifest(path).name));
const previous = readManifest('packages/server').version;

for (const path of workspaces) {
  const manifest = readManifest(path);
  for (const one of [manifest, lock.packages[path]]) setVersion(one);
  writeJson(join(path, 'package.json'), manifest);
}
writeJson('package-lock.json', lock);
replace('packages/cli/src/version.ts', `'${previous}'`, `'${next}'`);
replace('packages/cli/bin/botcli.js', `botcli ${previous}`, `botcli ${next}`);
replace('images/server/Dockerfile', `VERSION=${previous}`, `VERSION=${next}`);
replace('runtimes/python/pyproject.toml', `version = "${previous}"`, `version = "${next}"`);
replace('runtimes/python/src/bothost_shim/__init__.py', `"${previous}"`, `"${next}"`);
const unreleased = '## [Unreleased]\n';
const today = new Date().toISOString().slice(0, 10);
replace('CHANGELOG.md', unreleased, `${unreleased}\n## [${next}] - ${today}\n`);

/** Sets the version in a package.json, and the versions of dependencies that are packages of this repository. */
function setVersion(manifest) {
  manifest.version = next;
  for (const dependencies of [manifest.dependencies, manifest.devDependencies]) {
    for (const name of Object.keys(dependencies ?? {})) if (names.has(name)) dependencies[name] = next;
  }
}

function replace(path, from, to) {
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2)
    throw new Error(`${path} contains ${JSON.stringify(from)} ${parts.length - 1} times; expected exactly one`);
  writeFileSync(path, parts.join(to));
}

function readManifest(path) {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
