// raise-client-versions.mjs: sets the two tested versions of each Pipecat Cloud package: the newest release, and the release
// that was the newest twelve weeks ago. Needs npm and uv.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../test/existing-clients/versions.json', import.meta.url);
const earlier = new Date(Date.now() - 84 * 86_400_000).toISOString();
const versions = JSON.parse(readFileSync(file, 'utf8'));
// The tests install no dependency that was released after this date.
versions.date = new Date().toISOString().slice(0, 10);
for (const name of Object.keys(versions.pypi)) versions.pypi[name] = [newestOnPypi(name), newestOnPypi(name, earlier)];
for (const name of Object.keys(versions.npm)) versions.npm[name] = [newestOnNpm(name), newestOnNpm(name, earlier)];
writeFileSync(file, `${JSON.stringify(versions, null, 2).replace(/\[\s+("[^"]+"),\s+("[^"]+")\s+\]/g, '[$1, $2]')}\n`);

function newestOnPypi(name, before = new Date().toISOString()) {
  const options = ['--quiet', '--no-deps', '--no-header', '--no-annotate', '--exclude-newer', before, '-'];
  return execFileSync('uv', ['pip', 'compile', ...options], { input: name, encoding: 'utf8' })
    .trim()
    .split('==')[1];
}

function newestOnNpm(name, before = new Date().toISOString()) {
  const times = JSON.parse(execFileSync('npm', ['view', name, 'time', '--json'], { encoding: 'utf8' }));
  const released = Object.keys(times).filter((version) => /^\d+\.\d+\.\d+$/.test(version) && times[version] < before);
  return released.sort((one, other) => other.localeCompare(one, 'en', { numeric: true }))[0];
}
