import { readFile } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { browserTest } from './support/browser.ts';
import { fillBusyOrganization } from './support/busy-organization.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { holdResponses } from './support/hold-responses.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';
import { createOrganization } from './support/organization.ts';
import { startSession } from './support/sessions.ts';

/** Tests the overview, the command palette and a lost connection in a real browser, with the built service. */
let service: BuiltService;
let context: BrowserContext;
let page: Page;
setUpDashboard(
  (dashboard) => {
    ({ service, context, page } = dashboard);
  },
  { bots: [['broken', { prelude: 'process.exit(3);' }]] },
);

/** Presses both keys of a shortcut at once, because the page ignores the second key if it comes too late. */
const pressShortcut = (first: string, second: string) =>
  Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const deployments = () =>
  page.getByRole('list', { name: 'Deployments' }).getByRole('listitem').filter({ hasText: 'Code' });
const tile = (name: string) => page.locator('dl > div').filter({ hasText: name });
const figure = (name: string) => tile(name).locator('dd').first();

browserTest('the overview shows running sessions, and why an agent cannot serve', async () => {
  await page.getByText('broken: The last deploy failed').waitFor();
  await page.getByRole('list', { name: 'Needs attention' }).getByText('Not serving', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Deployments of broken' }).waitFor();
  const help = page.getByRole('link', { name: 'Help for Needs attention (opens in a new tab)' });
  expect(await help.getAttribute('href')).toBe('/help/conversations#crashes');
  expect(await figure('Live sessions').textContent()).toBe('0');
  const sessionId = await startSession(service, 'parrot');
  await expect.poll(() => figure('Live sessions').textContent(), { timeout: 20_000 }).toBe('1');
  await tile('Start time')
    .getByText(/^p95 [\d.]+ m?s in the last hour$/)
    .waitFor();
  await inspect('overview');
  await service.ask(`agents/parrot/sessions/${sessionId}`, 'DELETE');
  await expect.poll(() => figure('Live sessions').textContent(), { timeout: 20_000 }).toBe('0');
});

let filled: Promise<string> | undefined;
/** Fills the organization `busy` once, also if a test is retried, and returns the address of its pages. */
const fillBusy = () => {
  filled ??= (async () => {
    const { url } = await createOrganization(service, page, 'busy');
    await fillBusyOrganization(service, 'busy', 10_000);
    return url;
  })();
  return filled;
};

browserTest('the overview shows no figures of a period before they have arrived', async () => {
  await page.goto(await fillBusy());
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/statistics\?period=day/, async (request) => {
    await held;
    await request.continue();
  });
  await page.getByRole('link', { name: 'Last day' }).click();
  for (const name of ['Failed sessions', 'Start time', 'Response time'])
    await tile(name).getByText('Loading…').waitFor();
  expect(await page.getByRole('table', { name: /^Agents/ }).count()).toBe(0);
  release();
  await page.getByRole('table', { name: 'Agents, last day' }).waitFor();
  await tile('Failed sessions')
    .getByText(/^of [\d,]+ in the last day$/)
    .waitFor();
});

browserTest(
  'the overview of a busy organization leads to the cause of its problems',
  async () => {
    const url = await fillBusy();
    await page.goto(url);
    await page.getByRole('link', { name: 'support-line: At its limit of sessions' }).waitFor();
    await page.getByRole('link', { name: 'pharmacy: The last deploy failed' }).waitFor();
    await inspect('overview-busy-hour');
    const outage = page
      .getByRole('list', { name: 'Needs attention' })
      .locator(':scope > li')
      .filter({ hasText: 'APITimeoutError' });
    await outage.getByText(/^\d+ failed sessions in \d+ agents$/).waitFor();
    await outage.getByText(/^.*\d\d:\d\d to .*\d\d:\d\d$/).waitFor();
    await outage.getByText('Check the status page of its vendor.').waitFor();
    expect(await outage.count()).toBe(1);
    await outage.locator('a[href^="/orgs/busy/agents/"]').first().waitFor();
    await outage.getByRole('link', { name: 'The bot raised APITimeoutError.', exact: true }).click();
    await page.waitForURL(`${url}/sessions?since=1h&problem=500%2FAPITimeoutError`);
    await page.getByRole('table', { name: 'Sessions' }).getByText('Agent error (500)').first().waitFor();
    await page.goto(url);
    await page.getByRole('link', { name: 'Last week' }).click();
    await page.waitForURL(`${url}?period=week`);
    await page.getByRole('img', { name: /^Sessions over time\. All: / }).waitFor();
    await page.getByText('The charts as a table').click();
    await expect.poll(() => page.getByRole('table', { name: 'Figures over time' }).getByRole('row').count()).toBe(85);
    await tile('Failed sessions')
      .getByText(/^of [\d,]+ in the last week$/)
      .waitFor();
    expect(Number((await figure('Failed sessions').textContent())?.replaceAll(',', ''))).toBeGreaterThan(200);
    const failedSessions = await figure('Failed sessions').getByRole('link').getAttribute('href');
    expect(failedSessions).toMatch(/\/sessions\?status=failed&from=\d+$/);
    await inspect('overview-busy-week');
    const agentRow = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await agentRow('booking')
      .getByText(/^[\d.]+ s \(previously .*\)$/)
      .waitFor();
    await agentRow('support-line').getByText('12 of 12').waitFor();

    await page.getByRole('img', { name: /^Sessions over time/ }).click();
    await page.waitForURL(/\/sessions\?from=\d+&to=\d+$/);
    const parameters = new URL(page.url()).searchParams;
    expect(Number(parameters.get('to')) - Number(parameters.get('from'))).toBe(7_200);
    await page.getByText(/^\d+ sessions$/).waitFor();
    expect(await page.getByLabel('Time').inputValue()).toBe('range');
    await inspect('sessions-of-bar');
    await page.goBack();

    const problem = page.getByRole('link', { name: 'triage: The bot raised KeyError.', exact: true });
    await problem.click();
    await page.waitForURL(`${url}/sessions?agent=triage&since=7d&problem=500%2FKeyError`);
    await expect.poll(() => page.getByLabel('Problem').inputValue()).toBe('500/KeyError');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    await page.getByText(`${(lines.length - 1).toLocaleString('en')} sessions`, { exact: true }).waitFor();
    expect(lines.slice(1).every((line) => line.includes(',triage,') && line.includes(',500,'))).toBe(true);
    await inspect('sessions-by-problem');

    await page.getByRole('table', { name: 'Sessions' }).getByRole('link').first().click();
    await page.getByRole('alert').getByText('The bot raised KeyError.').waitFor();
    await page.getByRole('link', { name: /similar failures in the last week$/ }).waitFor();
    await inspect('session-similar-failures');
    await page.getByRole('link', { name: 'triage', exact: true }).click();
    await page.waitForURL(`${url}/agents/triage`);
    await page.getByRole('link', { name: 'Last week' }).click();
    const causes = page.getByRole('list', { name: 'Failed sessions by cause' });
    await causes.getByRole('link', { name: 'The bot raised KeyError.', exact: true }).waitFor();
    await page.getByRole('img', { name: /^Capacity over time/ }).waitFor();
    await inspect('agent-busy-week');
    await page.getByRole('link', { name: 'Deployments', exact: true }).click();
    await deployments()
      .first()
      .getByText(/^\d\d(\.\d)? % \(previously \d(\.\d)? %\)$/)
      .waitFor();
    await inspect('deployments-busy');
    await deployments().first().getByRole('link').first().click();
    await page
      .getByRole('table', { name: 'Sessions of the deployment' })
      .getByText(/^[\d,]+ \(\d+\.\d %\)$/)
      .first()
      .waitFor();
    await inspect('deployment-busy');
  },
  300_000,
);

browserTest('the page of a session that ran out of memory says so at the top and in its tiles', async () => {
  const url = await fillBusy();
  await page.goto(`${url}/sessions?agent=interview&problem=HTTP_ERROR%2F%2FOUT_OF_MEMORY`);
  await page.getByRole('table', { name: 'Sessions' }).getByRole('link').first().click();
  await page
    .getByRole('alert')
    .getByText('The bot used more memory than its profile allows, and was killed.')
    .waitFor();
  await tile('Ended').getByText('Out of memory', { exact: true }).waitFor();
  await tile('Errors').getByText('the failure of the session').waitFor();
  await inspect('session-out-of-memory');
});

browserTest('the problem of a deleted agent leads to its sessions, whose pages do not link to the agent', async () => {
  const url = await fillBusy();
  const headers = { origin: service.origin, 'sec-fetch-site': 'same-origin' };
  await page.request.delete(`${service.origin}/v1/organizations/busy/agents/interview`, { headers });
  await page.goto(`${url}?period=week`);
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByRole('link', { name: /^interview \(deleted\): The bot used more memory/ }).click();
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('link');
  await sessions.first().waitFor();
  const selected = page.getByLabel('Agent').locator('option:checked');
  await expect.poll(() => selected.textContent()).toBe('interview (deleted)');
  await sessions.first().click();
  await page.getByRole('heading', { name: 'Session of interview (deleted)' }).waitFor();
  expect(await page.locator('a[href*="/agents/"]').count()).toBe(0);
  await inspect('session-deleted-agent');
  await page.getByRole('link', { name: /similar failures in the last week$/ }).click();
  await sessions.first().waitFor();
});

browserTest('pages open with the command palette and with shortcuts, and a dialog lists the shortcuts', async () => {
  await page.goto(`${service.origin}/orgs/home`);
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('option', { name: 'Talk to parrot' }).waitFor();
  await inspect('command-palette');
  await page.keyboard.type('talk to parrot');
  await expect.poll(() => palette.getByRole('option').first().textContent()).toBe('Talk to parrot');
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
  await page.getByRole('button', { name: 'Search' }).click();
  await palette.getByRole('option', { name: 'Open parrot' }).click();
  await page.waitForURL(`${service.origin}/orgs/home/agents/parrot`);
});

browserTest('the command palette opens an agent that arrives after its name was typed', async () => {
  const release = await holdResponses(page, /\/organizations\/home\/agents$/);
  await page.goto(`${service.origin}/orgs/home`);
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  const [help] = await Promise.all([page.waitForResponse('**/help/search.json'), page.keyboard.press('Control+k')]);
  await help.finished();
  await page.keyboard.type('talk to parrot');
  await release();
  await page.getByRole('option', { name: 'Talk to parrot', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Talk to parrot' }).waitFor();
});

browserTest('the command palette finds a section of the help by its text, and opens it in a new tab', async () => {
  await page.goto(`${service.origin}/orgs/home`);
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('BOTHOST_TURN_SECRET');
  const found = page.getByRole('group', { name: 'Help (opens in a new tab)' }).getByRole('option');
  await expect.poll(() => found.allTextContents()).toContain('A TURN server · Media beyond one machine');
  await inspect('command-palette-help');
  const opened = context.waitForEvent('page');
  await found.filter({ hasText: 'A TURN server' }).click();
  const help = await opened;
  await help.waitForURL(`${service.origin}/help/media#a-turn-server`);
  await help.getByRole('heading', { name: 'A TURN server' }).waitFor();
  await help.close();
  expect(await page.getByRole('dialog').count()).toBe(0);
});

browserTest('the command palette opens a session by its id', async () => {
  const sessionId = await startSession(service, 'parrot');
  await page.goto(`${service.origin}/orgs/home`);
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('combobox').waitFor();
  await page.keyboard.insertText(` ${sessionId.toUpperCase()} `);
  await page.getByRole('option', { name: `Open session ${sessionId}` }).click();
  await page.waitForURL(`${service.origin}/orgs/home/sessions/${sessionId}`);
  await page.getByText(sessionId, { exact: true }).first().waitFor();
  await service.ask(`agents/parrot/sessions/${sessionId}`, 'DELETE');
});

browserTest('an unknown address shows a page with the way back, and programs get an error object', async () => {
  await page.goto(`${service.origin}/orgs/home/agents`);
  await page.getByRole('link', { name: 'parrot', exact: true }).waitFor();
  for (const path of ['/orgs/home/nothing', '/orgs/home/agents/parrot/nothing', '/nothing/at/all']) {
    const response = await page.goto(service.origin + path);
    expect(response?.status()).toBe(path.startsWith('/orgs') ? 200 : 404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    const navigation = page.getByRole('navigation', { name: 'Main' });
    expect(await navigation.count()).toBe(path.startsWith('/orgs') ? 1 : 0);
    await inspect(`not-found${path.replaceAll('/', '-')}`);
    await page.getByRole('button', { name: 'Go back' }).click();
    await page.waitForURL(`${service.origin}/orgs/home/agents`);
  }
  const refused = await fetch(`${service.origin}/nothing/at/all`);
  expect([refused.status, await refused.json()]).toMatchObject([404, { reason: 'endpoint-not-found' }]);
});

browserTest('a lost connection shows one banner, and the page updates when the connection is restored', async () => {
  await page.goto(`${service.origin}/orgs/home`);
  await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
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
