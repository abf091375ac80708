import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { version } from './version.ts';

test('version equals the version in package.json', async () => {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ version });
});

test('the launcher bin/botcli.js prints the version in package.json', async () => {
  const launcher = await readFile(new URL('../bin/botcli.js', import.meta.url), 'utf8');
  expect(launcher).toContain(`const line = 'botcli ${version}\\n';`);
});
