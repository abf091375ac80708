import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { evaluateJavaScriptInBot } from '../../server/test/support/client.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { holdResponses } from './support/hold-responses.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';
import { formatLogLine, makeBotPrintLines, startSession } from './support/sessions.ts';

/** Tests the page of one session, and the logs, in a real browser with the built service. */
let service: BuiltService;
let page: Page;
setUpDashboard(
  (dashboard) => {
    ({ service, page } = dashboard);
  },
  { bots: [['crow', { conversationLevel: 'transcript' }]] },
);

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const open = (path: string) => page.goto(`${service.origin}/orgs/home/${path}`);
const lines = () => page.getByRole('listbox', { name: 'Log lines' }).getByRole('option');
const line = (hasText: string | RegExp) => lines().filter({ hasText });

browserTest(
  'the page of a live session shows its metrics and output, and can stop the session',
  async () => {
    const sessionId = await startSession(service, 'parrot');
    const burn = fetch(`${service.origin}/v1/public/parrot/sessions/${sessionId}/burn`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.publicKey}` },
      body: JSON.stringify({ cpuMillicores: 300, megabytes: 100, seconds: 25 }),
    });
    await open(`sessions/${sessionId}`);
    await page.getByRole('heading', { name: 'Session of parrot' }).waitFor();
    await page.getByRole('img', { name: /^CPU over time\. p50 [\d.]+ CPU/ }).waitFor();
    await burn;
    await page.getByRole('img', { name: /^Memory over time\. .*p99 1\d\d\.\d MiB/ }).waitFor();
    await inspect('session-live');

    const chart = page.getByRole('img', { name: /^CPU over time/ });
    const box = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 };
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.getByText(/^\d\d:\d\d:\d\d: [\d.]+ CPU, [\d.]+ MiB$/).waitFor();
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/\?from=[\d.]+&to=[\d.]+$/);
    await inspect('session-zoomed');
    await page.reload();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]+$/);
    await page.getByRole('button', { name: 'Zoom in' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\?from=/);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await page.waitForURL(/\/sessions\/[0-9a-f-]+$/);

    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('button', { name: 'Stop session' }).click();
    await page.getByText('SESSION_STOPPED').first().waitFor();
    await page.getByText('From the request to the accepted session').waitFor();
    await page.getByText('JSON', { exact: true }).click();
    const json = page.getByRole('region', { name: 'Record as JSON' }).filter({ hasText: '"endedAt": "' });
    const shown = JSON.parse((await json.textContent()) ?? '');
    expect(shown).toEqual(await service.ask(`agents/parrot/sessions/${sessionId}`));
    await page.getByText(`botcli cloud agent sessions parrot --id ${sessionId} --organization home`).waitFor();
    await page.getByText(/^curl -X GET .*\/v1\/organizations\/home\/agents\/parrot\/sessions\//).waitFor();
    await inspect('session-ended');
  },
  90_000,
);

browserTest('the page of a failed session names the cause, the next step and the last output', async () => {
  const sessionId = await startSession(service, 'crow');
  await makeBotPrintLines(service, sessionId, [
    formatLogLine('INFO', 'Connecting to the model'),
    formatLogLine('WARNING', 'The model is slow'),
    formatLogLine('ERROR', 'The model refused the key'),
    '\u001b[31mTraceback: wrong key\u001b[0m',
  ]);
  const client = { url: service.origin, publicKey: service.publicKey };
  await evaluateJavaScriptInBot(client, 'crow', sessionId, 'process.exit(3)').catch(() => undefined);
  await open(`sessions/${sessionId}`);
  await page.getByRole('alert').getByText('The bot exited with status 3.').waitFor();
  const output = page.getByRole('alert').getByRole('region', { name: 'Last output' });
  await output.getByText('Traceback: wrong key').waitFor();
  await page.getByRole('heading', { name: 'Events' }).waitFor();
  expect(await page.getByRole('region', { name: 'Last output' }).count()).toBe(1);
  await line('The model refused the key').waitFor();
  await inspect('session-failed');
  await page.getByRole('link', { name: 'Search the logs' }).click();
  await page.waitForURL(new RegExp(`/logs\\?agent=crow&session=${sessionId}`));
  await line('The model is slow').waitFor();
});

browserTest('the page of a session in a room shows the meetings that its bot joined', async () => {
  const sessionId = await startSession(service, 'parrot');
  const meetingIds = [{ meetingId: 'meeting-1', participantId: 'bot-1' }];
  // Only the meetings are not real, because the service has no key of Daily.
  await page.route(`**/v1/**/sessions/${sessionId}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), meetingIds } });
  });
  onTestFinished(() => page.unrouteAll({ behavior: 'wait' }));
  await open(`sessions/${sessionId}`);
  await page.getByText('Meeting meeting-1, bot bot-1').waitFor();
  await inspect('session-meetings');
});

browserTest('the page of an unknown session says that it does not exist', async () => {
  await open('sessions/01a20861-0000-7000-8000-000000000000');
  await page.getByText('No session has this id').waitFor();
  expect(await page.title()).toBe('No session has this id · bothost');
  await inspect('session-missing');
});

browserTest('the logs page follows, searches and filters lines, and keeps the filter in its URL', async () => {
  const sessionId = await startSession(service, 'crow');
  await open('logs?agent=crow');
  await makeBotPrintLines(service, sessionId, [
    formatLogLine('INFO', 'tea is ready'),
    formatLogLine('ERROR', 'the cup broke'),
  ]);
  await line('the cup broke').waitFor();
  await inspect('logs-follow');
  await page.getByLabel('Search').fill('tea');
  await page.waitForURL(/query=tea/);
  await expect.poll(() => lines().count()).toBe(1);
  await page.getByLabel('Minimum level').selectOption('ERROR');
  await page.getByText('No line matches.').waitFor();
  await inspect('logs-none-match');
  await page.reload();
  await page.getByText('No line matches.').waitFor();
  await page.getByLabel('Search').fill('');
  await page.keyboard.press('Enter');
  await page.getByLabel('Time').selectOption('1h');
  await page.waitForURL(/level=ERROR&since=1h/);
  await makeBotPrintLines(service, sessionId, [formatLogLine('CRITICAL', 'the pot broke, too')]);
  await line('the pot broke, too').waitFor();
  await makeBotPrintLines(service, sessionId, [
    formatLogLine('ERROR', 'the lid fell'),
    'Traceback (most recent call last):',
    '  File "bot.py", line 3, in bot',
    "KeyError: 'lid [1]'",
  ]);
  await line('the lid fell').getByText('+3 lines').waitFor();
  expect(await line('Traceback').count()).toBe(0);
  await inspect('logs-folded');
  await line('the lid fell').click();
  await page.getByRole('dialog').getByText("KeyError: 'lid [1]'").waitFor();
  await inspect('logs-folded-line');
  await page.keyboard.press('Escape');
  await makeBotPrintLines(service, sessionId, [formatLogLine('CRITICAL', 'the table broke')]);
  await line('the table broke').waitFor();

  await page.getByRole('listbox', { name: 'Log lines' }).focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('CRITICAL', { exact: true }).waitFor();
  await inspect('logs-line');
  await dialog.getByRole('link', { name: `${sessionId} at this moment` }).click();
  await page.waitForURL(new RegExp(`/sessions/${sessionId}\\?moment=`));
  await page.goBack();
  await page.waitForURL(/level=ERROR&since=1h/);
  await line('the pot broke, too').waitFor();
});

browserTest('a click on the histogram of a log shows only the lines of that time', async () => {
  const sessionId = await startSession(service, 'crow');
  await makeBotPrintLines(service, sessionId, [formatLogLine('ERROR', 'the spoon bent')]);
  await open(`logs?agent=crow&session=${sessionId}&since=1h`);
  await line('the spoon bent').waitFor();
  const histogram = page.getByRole('img', { name: /^Lines over time\. All: / });
  await histogram.scrollIntoViewIfNeeded();
  await inspect('logs-histogram');
  const { x, y, width, height } = (await histogram.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.click(x + width * 0.4, y + height / 2);
  await page.waitForURL(/from=\d+&to=\d+$/);
  const { searchParams } = new URL(page.url());
  expect(Number(searchParams.get('to')) - Number(searchParams.get('from'))).toBe(60);
  expect(searchParams.has('since')).toBe(false);
  await page.getByText('No line matches.').waitFor();
  await inspect('logs-range');
  await page.getByLabel('Time').selectOption('15m');
  await page.waitForURL(/since=15m$/);
  await line('the spoon bent').waitFor();
});

browserTest('a histogram that cannot be read shows the error, and can be read again', async () => {
  onTestFinished(() => page.unrouteAll({ behavior: 'wait' }));
  await page.route(/\/logs\/histogram/, (route) => route.fulfill({ status: 500 }));
  await open('logs?agent=crow&since=1h');
  const retry = page.getByRole('button', { name: 'Try again' });
  await retry.waitFor();
  await inspect('logs-histogram-error');
  await page.unrouteAll({ behavior: 'wait' });
  await retry.click();
  await page.getByText('Lines', { exact: true }).waitFor();
});

browserTest(
  'a log of 100,000 lines renders at most 100 lines, and keeps its scroll position after a reload',
  async () => {
    const sessionId = await startSession(service, 'crow');
    const print = `new Promise((done) => {
      let count = 0;
      const timer = setInterval(() => {
        for (const end = count + 1000; count < end; count += 1) console.log('line ' + count + ' of many');
        if (count === 100000) done(clearInterval(timer));
      }, 10);
    })`;
    await evaluateJavaScriptInBot({ url: service.origin, publicKey: service.publicKey }, 'crow', sessionId, print);
    await open(`logs?agent=crow&session=${sessionId}`);
    await line('line 99999 of many').waitFor();
    const list = page.getByRole('listbox', { name: 'Log lines' });
    const scrollTo = (share: number) =>
      list.evaluate((element, part) => element.scrollTo(0, part * element.scrollHeight), share);
    const readCount = () => page.getByText(/^[\d,]+ lines( read)?$/).textContent();
    const counts: number[] = [];
    await list.hover();
    await page.mouse.wheel(0, -100);
    // Until the page has handled the wheel event, the list follows new lines and may scroll to its end.
    await page.waitForURL(/at=/);

    // Check that each scroll to the start fetches one page of older lines without moving the visible lines.
    const olderPages = /\/logs\?.*order=desc/;
    const requests: string[] = [];
    page.on('request', (request) => void (olderPages.test(request.url()) && requests.push(request.url())));
    for (let pages = 1; pages <= 2; pages += 1) {
      const release = await holdResponses(page, olderPages);
      const request = page.waitForRequest(olderPages);
      await scrollTo(0);
      await request;
      const [before, oldest] = [await readCount(), (await list.locator('#log-line-0').textContent()) ?? ''];
      await release();
      await expect.poll(readCount).not.toBe(before);
      await line(oldest).waitFor();
      expect(requests).toHaveLength(pages);
    }
    const readOlder = async () => {
      await scrollTo(0);
      counts.push(await lines().count());
      return readCount();
    };
    await expect.poll(readOlder, { timeout: 180_000, interval: 20 }).toBe('100,000 lines');
    for (const [share, text] of [
      [0, 'line 0 of many'],
      [0.25, /line 25\d{3} of many/],
      [1, 'line 99999 of many'],
      [0.5, /line (49|50)\d{3} of many/],
    ] as const) {
      await scrollTo(share);
      await line(text).first().waitFor();
      counts.push(await lines().count());
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(100);

    await page.waitForURL(/at=/);
    await inspect('logs-many');
    // Check only the timestamp of the last line after a reload, not its number. The reloaded page ends with the last line
    // that has this timestamp, and the service gives the same timestamp to all lines that it reads at once.
    const time = String((await lines().last().textContent())?.slice(0, '12:00:00.000'.length));
    await page.reload();
    await line(time).first().waitFor();
    await page.getByRole('button', { name: 'Follow new lines' }).click();
    await line('line 99999 of many').waitFor();

    await makeBotPrintLines(service, sessionId, ['one line more']);
    await line('one line more').waitFor();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const text = await readFile(await (await downloaded).path(), 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(100_001);
    expect(text).toMatch(/line 99999 of many\n\(The download ends here, after 100,000 lines\. .*\)\n$/);
  },
  300_000,
);
