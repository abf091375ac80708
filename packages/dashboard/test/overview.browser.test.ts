import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/service.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';
import { startSession } from './support/sessions.ts';

/** Tests the overview, the command palette and a lost connection in a real browser, with the built service. */
let service: BuiltService;
let context: BrowserContext;
let page: Page;
setUpDashboard(
  (dashboard) => {
    ({ service, context, page } = dashboard);
  },
  { bot: ['broken', { prelude: 'process.exit(3);' }] },
);

/** Presses both keys of a shortcut at once, because the page ignores the second key if it comes too late. */
const pressShortcut = (first: string, second: string) =>
  Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const figure = (name: string) => page.locator('dl > div').filter({ hasText: name }).locator('dd').first();

browserTest('the overview shows running sessions, and why an agent cannot serve', async () => {
  await page.getByText('broken: The last deploy failed').waitFor();
  await page.getByRole('list', { name: 'Needs attention' }).getByText('Not serving', { exact: true }).waitFor();
  await page.getByText('botcli cloud agent status broken --organization home').waitFor();
  expect(await figure('Live sessions').textContent()).toBe('0');
  const sessionId = await startSession(service, 'parrot');
  await expect.poll(() => figure('Live sessions').textContent(), { timeout: 20_000 }).toBe('1');
  await page.getByText(/p99 [\d.]+ m?s; 1 in the last hour/).waitFor();
  await inspect('overview');
  await service.ask(`agents/parrot/sessions/${sessionId}`, 'DELETE');
  await expect.poll(() => figure('Live sessions').textContent(), { timeout: 20_000 }).toBe('0');
});

browserTest('pages open with the command palette and with shortcuts, and a dialog lists the shortcuts', async () => {
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('option', { name: 'Talk to parrot' }).waitFor();
  await inspect('command-palette');
  await page.keyboard.type('parrot');
  await expect.poll(() => palette.getByRole('option').allTextContents()).toEqual(['Talk to parrot']);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.origin}/orgs/home/talk/parrot`);
  await page.getByRole('heading', { name: 'Talk to parrot' }).waitFor();
  await pressShortcut('g', 'o');
  await page.waitForURL(`${service.origin}/orgs/home`);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Open Overview').waitFor();
  await inspect('shortcuts');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

browserTest('a lost connection shows one banner, and the page updates when the connection is restored', async () => {
  const banner = page.getByText('Connection lost.');
  await pressShortcut('g', 's');
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await context.setOffline(true);
  await banner.waitFor();
  expect(await banner.count()).toBe(1);
  await pressShortcut('g', 'o');
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  await inspect('connection-lost');
  const sessionId = await startSession(service, 'parrot');
  await context.setOffline(false);
  await banner.waitFor({ state: 'detached' });
  await expect.poll(() => figure('Live sessions').textContent(), { timeout: 20_000 }).toBe('1');
  await service.ask(`agents/parrot/sessions/${sessionId}`, 'DELETE');
});
