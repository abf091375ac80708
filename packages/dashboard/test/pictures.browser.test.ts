import { execFile } from 'node:child_process';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type BuiltService, botcliProgramPath } from '../../../test/built-service.ts';
import { createInvitationLink, signUp } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';
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
let dashboard: Page;

setUpBrowser(
  async (started) => {
    ({ service, browser } = started);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    ({ page: dashboard } = await signUp(service, context, await createInvitationLink(service, 'ada@example.com')));
    target = isStored ? fromRoot('docs/pictures') : join(service.folder, 'pictures');
    await mkdir(target, { recursive: true });
  },
  { hasMicrophone: true },
);

async function takePicture(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  const path = join(target, `${name}.png`);
  await page.screenshot({ path, fullPage });
  expect((await stat(path)).size).toBeLessThan(pictureBytesAtMost);
}

browserTest(
  'takes two pictures: a conversation on the talk page, and the page of its session in the dashboard',
  async () => {
    const page = await browser.newPage({ viewport: { width: 1180, height: 720 }, colorScheme: 'light' });
    await page.goto(`${service.origin}/talk/parrot#key=${service.publicKey}`);
    await page.getByRole('button', { name: 'Start talking' }).click();
    const transcript = page.getByRole('log', { name: 'Transcript' });
    const heard = transcript.getByText(/I heard 1\.\d seconds of you/);
    await transcript.getByText('I am the parrot').waitFor();
    await page.getByLabel('Write to parrot').fill('pretty bird');
    await page.keyboard.press('Enter');
    await transcript.getByText('Rraawk! pretty bird').waitFor();
    await heard.first().waitFor();
    await takePicture(page, 'talk');
    // The caller's sound file speaks every four seconds.
    await heard.nth(isStored ? 4 : 0).waitFor();
    await page.getByRole('button', { name: 'End', exact: true }).click();
    const { sessions } = await service.ask('agents/parrot/sessions');
    const [session] = sessions as readonly { readonly sessionId: string }[];
    await page.close();

    await dashboard.goto(`${service.origin}/orgs/home/sessions/${session?.sessionId}`);
    await dashboard.getByRole('img', { name: /^CPU over time/ }).waitFor();
    await dashboard.getByRole('region', { name: 'Turn 1', exact: true }).waitFor();
    await dashboard.getByText('The caller left').waitFor();
    await dashboard.keyboard.press('j');
    await dashboard.getByRole('region', { name: 'Turn 2', exact: true }).waitFor();
    await dashboard.setViewportSize({ width: 1280, height: 1_990 });
    await takePicture(dashboard, 'dashboard-session', { fullPage: false });
    await dashboard.setViewportSize({ width: 1280, height: 800 });
  },
  120_000,
);

browserTest(
  'takes two pictures: a session in botcli, and the overview of the dashboard',
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

    await dashboard.goto(`${service.origin}/orgs/home`);
    await startSession(service, 'parrot');
    const liveSessions = dashboard.locator('dt', { hasText: 'Live sessions' }).locator('+ dd');
    await expect.poll(() => liveSessions.textContent(), { timeout: 20_000 }).not.toBe('0');
    await takePicture(dashboard, 'dashboard');
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
