import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { readConfig } from '../packages/server/src/config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const exec = promisify(execFile);

test('npm ci without dev dependencies builds a fresh clone, prints at most 20 lines, and changes no file of git', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bothost-clone-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const clone = join(folder, 'clone');
  const run = async (program: string, ...args: readonly string[]) => {
    const env = {
      // Pass the variables that configure the package indexes, proxies and certificates of this machine.
      ...readConfig().secrets.buildVariables,
      PATH: `${dirname(execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: folder,
      NODE_ENV: 'production',
      npm_config_cache: inject('npmCache'),
      npm_config_update_notifier: 'false',
    };
    const { stdout, stderr } = await exec(program, args, { cwd: clone, env });
    return (stdout + stderr).trim();
  };
  await exec('git', ['clone', '--quiet', root, clone]);
  const output = await run('npm', 'ci', '--omit=dev');
  expect(output.split('\n').length, output).toBeLessThanOrEqual(20);
  expect(await run('node_modules/.bin/botcli', '--version')).toMatch(/^botcli \d/);
  expect(await run('node_modules/.bin/bothost', '--version')).toMatch(/\d/);
  expect(await run('git', 'status', '--porcelain')).toBe('');
  expect(await run('git', 'ls-files', '*/dist/*', '*.tgz')).toBe('');
}, 600_000);
