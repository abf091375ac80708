import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { evaluateJavaScriptInBot } from '../../server/test/support/client.ts';
import { createInvitationLink, signUp } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';
import { deleteOldestSessions, insertSessions } from './support/many-rows.ts';
import { createOrganization } from './support/organization.ts';
import { startSession } from './support/sessions.ts';

/** Tests the list of sessions in a real browser, with the built service. */
let service: BuiltService;
let browser: Browser;
let page: Page;
setUpDashboard(
  (dashboard) => {
    ({ service, browser, page } = dashboard);
  },
  { bots: [['crow']] },
);

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const rows = () => page.getByRole('table', { name: 'Sessions' }).locator('tbody tr');
const row = (text: string) => rows().filter({ hasText: text });

const start = (agent: string) => startSession(service, agent);
const crash = (sessionId: string) =>
  evaluateJavaScriptInBot(
    { url: service.origin, publicKey: service.publicKey },
    'crow',
    sessionId,
    'process.exit(3)',
  ).catch(() => undefined);

browserTest('an empty list of sessions offers to deploy a first agent, or to talk to an existing agent', async () => {
  const { url, deployEcho } = await createOrganization(service, page, 'empty-nest');
  await page.goto(`${url}/sessions`);
  await page.getByText('botcli cloud deploy --yes --organization empty-nest').waitFor();
  await inspect('sessions-no-agents');
  await deployEcho('one');
  await page.reload();
  await page.getByRole('link', { name: 'Talk to echo' }).waitFor();
  await inspect('sessions-empty');
});

browserTest('the list shows new, failed and stopped sessions without a reload', async () => {
  await page.goto(`${service.origin}/orgs/home/sessions`);
  const crashing = await start('crow');
  await row(crashing).getByText('Active').waitFor();
  await crash(crashing);
  await row(crashing).getByText('Agent error').waitFor();
  const stopped = await start('parrot');
  await row(stopped).getByText('Active').waitFor();
  await inspect('sessions-live');

  await row(stopped)
    .getByRole('button', { name: `Stop the session ${stopped} of parrot` })
    .focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('Do this with botcli').click();
  await page.getByText(`botcli cloud agent stop parrot --session-id ${stopped} --force`).waitFor();
  await inspect('sessions-stop');
  await page.getByRole('button', { name: 'Stop session' }).click();
  await row(stopped).getByText('Terminated').waitFor();
});

browserTest('a session can be stopped on a narrow screen', async () => {
  const sessionId = await start('parrot');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: `Stop the session ${sessionId} of parrot` }).click();
  await page.getByRole('button', { name: 'Stop session' }).click();
  await row(sessionId).getByText('Terminated').waitFor();
  await page.setViewportSize({ width: 1440, height: 900 });
});

browserTest('the sessions page stores its filters in the URL, so that a reload and Back keep the filters', async () => {
  const failed = await start('crow');
  await crash(failed);
  const stopped = await start('crow');
  await page.goto(`${service.origin}/orgs/home/sessions`);
  await row(stopped).waitFor();
  await page.getByLabel('Status').selectOption('failed');
  await page.getByLabel('Agent').selectOption('crow');
  await page.getByLabel('Time').selectOption('1h');
  await page.waitForURL(/\/sessions\?status=failed&agent=crow&since=1h$/);
  await row(failed).waitFor();
  expect(await row(stopped).count()).toBe(0);
  await page.getByRole('button', { name: 'Do this with curl' }).click();
  await page.getByText(/^curl .*agent=crow&status=failed/).waitFor();
  await page.keyboard.press('Escape');
  await inspect('sessions-filtered');
  await page.reload();
  await row(failed).getByRole('link').click();
  await page.waitForURL(/\/sessions\/[0-9a-f-]{36}$/);
  await page.goBack();
  await page.waitForURL(/\/sessions\?status=failed&agent=crow&since=1h$/);
  await page.getByLabel('Duration').selectOption('600-');
  await page.getByText('No sessions match').waitFor();
  await inspect('sessions-none-match');
});

browserTest('the list can be limited to a period with a beginning and an end, which the URL stores', async () => {
  const sessionId = await start('crow');
  await page.goto(`${service.origin}/orgs/home/sessions`);
  await row(sessionId).waitFor();
  await page.getByLabel('Time').selectOption('range');
  await page.waitForURL(/\/sessions\?from=\d+&to=\d+$/);
  await row(sessionId).waitFor();
  await page.getByLabel('To', { exact: true }).fill('2026-01-02T10:30');
  const end = await page.evaluate(() => Date.parse('2026-01-02T10:30') / 1_000);
  await page.waitForURL(new RegExp(`&to=${end}$`));
  await page.getByText('No sessions match').waitFor();
  await page.reload();
  expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2026-01-02T10:30');
  await page.getByLabel('Time').selectOption('');
  await page.waitForURL(/\/sessions$/);
  await row(sessionId).waitFor();
  await inspect('sessions-period');
});

browserTest('a viewer sees sessions, but no button to stop them', async () => {
  const sessionId = await start('parrot');
  const link = await createInvitationLink(service, 'viewer@example.com', '--organization', 'home', '--role', 'viewer');
  const guest = await browser.newContext();
  const { page: theirs } = await signUp(service, guest, link);
  await theirs.goto(`${service.origin}/orgs/home/sessions`);
  await theirs.getByRole('row').filter({ hasText: sessionId }).getByText('Active').waitFor();
  expect(await theirs.getByRole('button', { name: /^Stop/ }).count()).toBe(0);
  await guest.close();
});

browserTest(
  'the list of sessions reports a lost connection, and updates again after the connection is restored',
  async () => {
    await page.goto(`${service.origin}/orgs/home/sessions`);
    await rows().first().waitFor();
    await page.context().setOffline(true);
    await page.getByText('Connection lost.').waitFor();
    await inspect('sessions-offline');
    await page.context().setOffline(false);
    const sessionId = await start('parrot');
    await row(sessionId).waitFor();
    await page.getByText('Connection lost.').waitFor({ state: 'detached' });
  },
);

browserTest('the list gets shorter, without rows that load forever, when sessions leave the filter', async () => {
  const organization = `leavers-${Date.now()}`;
  const { url, deployEcho } = await createOrganization(service, page, organization);
  await deployEcho('one');
  await insertSessions(service, 40, { organization, name: 'echo' });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${url}/sessions`);
  const count = page.getByRole('status').filter({ hasText: /sessions$/ });
  await expect.poll(() => count.textContent()).toBe('40 sessions');
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await expect.poll(() => rows().last().getAttribute('aria-rowindex')).toBe('41');
  await deleteOldestSessions(service, 5, organization);
  await expect.poll(() => count.textContent()).toBe('35 sessions');
  expect(await page.getByText('Loading…').count()).toBe(0);
  expect(await rows().last().getAttribute('aria-rowindex')).toBe('36');
});

browserTest(
  'a list of 100,000 sessions renders at most 100 rows, and keeps its scroll position after a reload',
  async () => {
    await insertSessions(service, 100_000);
    await page.goto(`${service.origin}/orgs/home/sessions?agent=parrot`);
    await page.getByText('100,000 newest sessions').waitFor();
    const counts: number[] = [];
    for (const share of [0.2, 0.5, 1]) {
      await page.evaluate((part) => scrollTo(0, part * document.body.scrollHeight), share);
      await expect.poll(() => rows().filter({ hasText: 'Complete' }).count()).toBeGreaterThan(8);
      counts.push(await rows().count());
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(100);
    await expect.poll(() => rows().last().getAttribute('aria-rowindex')).toBe('100001');

    await page.evaluate(() => scrollTo(0, document.body.scrollHeight / 2));
    const position = () => page.evaluate(() => Math.round(scrollY));
    const before = await position();
    await expect.poll(() => rows().filter({ hasText: 'Complete' }).count()).toBeGreaterThan(8);
    await start('parrot');
    await page.getByRole('button', { name: /^1 new session/ }).waitFor();
    await inspect('sessions-many');
    await page.evaluate((y) => scrollTo(0, y), before);
    await page.reload();
    await expect.poll(position).toBe(before);
    await rows().filter({ hasText: 'Complete' }).nth(8).getByRole('link').click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]{36}$/);
    await page.goBack();
    await expect.poll(position).toBe(before);
  },
  90_000,
);
