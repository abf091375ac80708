import { execFile } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type BuiltService, botcliProgramPath, startBuiltService } from '../../../test/service.ts';
import { createInvitationLink, signUp } from './support/accounts.ts';
import { browserTest, hasBrowser, launchBrowser } from './support/browser.ts';
import { startSession } from './support/sessions.ts';

/** Takes the screenshots of the documentation from a running service. `npm run docs:pictures` stores them in `docs/pictures`. */
const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const pictureBytesAtMost = 250_000;
const isStored = import.meta.env['KEEP_PICTURES'] === 'true';
/** The session must last long enough for a chart of its metrics over time. */
const burnSeconds = isStored ? 20 : 6;

let service: BuiltService;
let browser: Browser;
let target: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  service = await startBuiltService();
  browser = await launchBrowser(service.folder);
  target = isStored ? fromRoot('docs/pictures') : join(service.folder, 'pictures');
  await mkdir(target, { recursive: true });
});

afterAll(async () => {
  if (!hasBrowser) return;
  await browser?.close();
  await service?.close();
});

async function takePicture(page: Page, name: string): Promise<void> {
  const path = join(target, `${name}.png`);
  await page.screenshot({ path, fullPage: true });
  expect((await stat(path)).size).toBeLessThan(pictureBytesAtMost);
}

browserTest('takes a screenshot of a conversation on the talk page', async () => {
  const page = await browser.newPage({ viewport: { width: 1180, height: 720 }, colorScheme: 'light' });
  await page.goto(`${service.origin}/talk/parrot#key=${service.publicKey}`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  const transcript = page.getByRole('log', { name: 'Transcript' });
  await transcript.getByText('I am the parrot').waitFor();
  await page.getByLabel('Write to parrot').fill('pretty bird');
  await page.keyboard.press('Enter');
  await transcript.getByText('Rraawk! pretty bird').waitFor();
  await transcript
    .getByText(/I heard 1\.\d seconds of you/)
    .first()
    .waitFor();
  await takePicture(page, 'talk');
  await page.close();
});

browserTest(
  'takes three pictures: a session in botcli, a session in the dashboard, and the overview of the dashboard',
  async () => {
    const sessionId = await startSession(service, 'parrot');
    for (const [cpuMillicores, megabytes] of [
      [100, 20],
      [300, 100],
      [200, 60],
    ]) {
      const response = await fetch(`${service.origin}/v1/public/parrot/sessions/${sessionId}/burn`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.publicKey}` },
        body: JSON.stringify({ cpuMillicores, megabytes, seconds: burnSeconds }),
      });
      expect(await response.json()).toMatchObject({ cpuMillicores, seconds: burnSeconds });
    }
    await service.ask(`agents/parrot/sessions/${sessionId}`, 'DELETE');
    await expect
      .poll(() => service.ask(`agents/parrot/sessions/${sessionId}`))
      .toMatchObject({ endedAt: expect.any(String) });
    await takeTerminalPicture(['cloud', 'agent', 'sessions', 'parrot', '--id', sessionId], 'session');

    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    const { page } = await signUp(service, context, await createInvitationLink(service, 'ada@example.com'));
    await startSession(service, 'parrot');
    const liveSessions = page.locator('dt', { hasText: 'Live sessions' }).locator('+ dd');
    await expect.poll(() => liveSessions.textContent(), { timeout: 20_000 }).not.toBe('0');
    await takePicture(page, 'dashboard');
    await page.goto(`${service.origin}/orgs/home/sessions/${sessionId}`);
    await page.getByRole('img', { name: /^CPU over time/ }).waitFor();
    await page.getByText(`parrot: session ${sessionId} ended`).first().waitFor();
    await takePicture(page, 'dashboard-session');
    await context.close();
  },
  240_000,
);

/** Takes a picture of a terminal that shows a command of `botcli` and its output. */
async function takeTerminalPicture(words: readonly string[], name: string): Promise<void> {
  const { stdout } = await promisify(execFile)(execPath, [botcliProgramPath, ...words, '--output', 'rich'], {
    env: service.environment,
  });
  expect(stdout).toMatch(/CPU\n +[▁-█]+\n/);
  const page = await browser.newPage({ viewport: { width: 760, height: 100 } });
  await page.setContent('<pre></pre>');
  await page.addStyleTag({
    content:
      'body { margin: 0; background: #1b1e24 } pre { margin: 0; padding: 20px; color: #d8dde6; font: 14px/1.35 monospace }',
  });
  await page.locator('pre').evaluate((element, text) => element.append(text), `$ botcli ${words.join(' ')}\n${stdout}`);
  await takePicture(page, name);
  await page.close();
}
