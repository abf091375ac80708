import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { build, preview } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasBrowser, launchBrowser } from './testing/browser.ts';
import { type Service, startService } from './testing/service.ts';

/** The clients that `botcli init` makes, built and pointed at the service's public API. */
const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const run = promisify(execFile);

let service: Service;
let browser: Browser;
let program: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  service = await startService();
  browser = await launchBrowser(service.folder);
  const outDir = join(service.folder, 'botcli');
  const configFile = fromRoot('packages/cli/vite.config.ts');
  await build({ root: fromRoot('packages/cli'), configFile, logLevel: 'error', build: { outDir } });
  await writeFile(join(outDir, 'package.json'), '{"type": "module"}');
  program = join(outDir, 'main.js');
});

afterAll(async () => {
  if (!hasBrowser) return;
  await browser?.close();
  await service?.close();
});

test.skipIf(!hasBrowser).each(['vanilla', 'react'])('a generated %s client talks to the parrot', async (framework) => {
  const project = join(service.folder, `${framework}-bot`);
  const choices = ['-t', 'websocket', '-m', 'realtime', '--realtime', 'openai_realtime', '-n', 'My Bot'];
  const env = { HOME: service.folder };
  await run(execPath, [program, 'init', project, ...choices, '--client-framework', framework], { env });
  const root = join(project, 'client');
  const example = await readFile(join(root, '.env.example'), 'utf8');
  const settings = example
    .replace(/^# (VITE_BOT_START_URL)=.*$/m, `$1=${service.origin}/v1/public/parrot/start`)
    .replace(/^# (VITE_BOT_START_PUBLIC_API_KEY)=.*$/m, `$1=${service.publicKey}`);
  await writeFile(join(root, '.env'), settings);
  await symlink(fromRoot('node_modules'), join(root, 'node_modules'));
  await build({ root, logLevel: 'error' });
  const pages = await preview({ root, preview: { port: 0, host: '127.0.0.1' } });
  try {
    const page = await browser.newPage();
    await page.goto(pages.resolvedUrls?.local[0] ?? '');
    expect(await page.title()).toBe('My Bot');
    await page.getByRole('button', { name: 'Talk' }).click();
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByRole('list', { name: 'What was said' }).getByText('I am the parrot').waitFor();
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('Ended', { exact: true }).waitFor();
    await page.close();
  } finally {
    await pages.close();
  }
});
