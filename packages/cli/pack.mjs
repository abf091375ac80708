// pack.mjs: packs the built botcli as the npm package packages/server/dist/botcli.tgz, which the service serves at /botcli.tgz
// and a release publishes. Equal builds make equal archives. The package needs no other one, because the build bundles them.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create } from 'tar';

const source = fileURLToPath(new URL('.', import.meta.url));
const target = fileURLToPath(new URL('../server/dist', import.meta.url));
mkdirSync(target, { recursive: true });
const staging = mkdtempSync(join(tmpdir(), 'botcli-'));
try {
  const root = join(staging, 'package');
  for (const path of ['bin', 'dist', 'README.md', '../../LICENSE']) {
    cpSync(join(source, path), join(root, path.replace('../../', '')), { recursive: true });
  }
  const {
    private: _,
    devDependencies,
    scripts,
    files,
    ...manifest
  } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name).slice(staging.length + 1)).sort();
  const archive = join(target, '.botcli.tgz');
  await create(
    { cwd: staging, file: archive, gzip: { level: 9 }, portable: true, mtime: new Date(0), strict: true },
    paths,
  );
  renameSync(archive, join(target, 'botcli.tgz'));
} finally {
  rmSync(staging, { recursive: true });
}
