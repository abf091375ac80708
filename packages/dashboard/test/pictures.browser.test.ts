import { execFile } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../../test/service.ts';
import { hasBrowser, launchBrowser } from './support/browser.ts';

/**
 * The pictures of the documents, taken from the running service. `npm run docs:pictures` keeps them in `docs/pictures`; any
 * other run only sees that they can be taken.
 */
const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const pictureTest = test.skipIf(!hasBrowser);
const largestPicture = 150_000;
const isKept = import.meta.env['KEEP_PICTURES'] === 'true';
/** A picture shows some of a session's life. */
const burnSeconds = isKept ? 20 : 6;

let service: Service;
let browser: Browser;
let target: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  service = await startService();
  browser = await launchBrowser(service.folder);
  target = isKept ? fromRoot('docs/pictures') : join(service.folder, 'pictures');
  await mkdir(target, { recursive: true });
});

afterAll(async () => {
  if (!hasBrowser) return;
  await browser?.close();
  await service?.close();
});

async function keep(page: Page, name: string): Promise<void> {
  const path = join(target, `${name}.png`);
  await page.screenshot({ path, fullPage: true });
  expect((await stat(path)).size).toBeLessThan(largestPicture);
}

pictureTest('the talk page in a conversation', async () => {
  const page = await browser.newPage({ viewport: { width: 760, height: 640 }, colorScheme: 'light' });
  await page.goto(`${service.origin}/talk/parrot#key=${service.publicKey}`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  const said = page.locator('.transcript');
  await said.getByText('I am the parrot').waitFor();
  await page.getByLabel('Write to parrot').fill('pretty bird');
  await page.keyboard.press('Enter');
  await said.getByText('Rraawk! pretty bird').waitFor();
  await said
    .getByText(/I heard 1\.\d seconds of you/)
    .first()
    .waitFor();
  await keep(page, 'talk');
  await page.close();
});

pictureTest(
  'a session with its metrics, as botcli shows it',
  async () => {
    const publicApi = (path: string, body: object) =>
      fetch(`${service.origin}/v1/public/parrot/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.publicKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const { sessionId } = (await (await publicApi('start', {})).json()) as { sessionId: string };
    for (const [cpuMillicores, megabytes] of [
      [100, 20],
      [300, 100],
      [200, 60],
    ]) {
      const burnt = await publicApi(`sessions/${sessionId}/burn`, { cpuMillicores, megabytes, seconds: burnSeconds });
      expect(await burnt.json()).toMatchObject({ cpuMillicores, seconds: burnSeconds });
    }
    await service.ask(`agents/parrot/sessions/${sessionId}`, 'DELETE');
    await expect
      .poll(() => service.ask(`agents/parrot/sessions/${sessionId}`))
      .toMatchObject({ endedAt: expect.any(String) });

    const words = ['cloud', 'agent', 'sessions', 'parrot', '--id', sessionId];
    const { stdout } = await promisify(execFile)(
      execPath,
      [fromRoot('packages/cli/bin/botcli.js'), ...words, '--output', 'rich'],
      { env: service.environment },
    );
    expect(stdout).toMatch(/CPU\n +[▁-█]+\n/);
    const page = await browser.newPage({ viewport: { width: 760, height: 100 } });
    await page.setContent('<pre></pre>');
    await page.addStyleTag({
      content:
        'body { margin: 0; background: #1b1e24 } pre { margin: 0; padding: 20px; color: #d8dde6; font: 14px/1.35 monospace }',
    });
    await page
      .locator('pre')
      .evaluate((element, text) => element.append(text), `$ npx botcli ${words.join(' ')}\n${stdout}`);
    await keep(page, 'session');
    await page.close();
  },
  120_000,
);
