import { randomBytes } from 'node:crypto';
import { readdir, readlink } from 'node:fs/promises';
import { generateApiKey } from '@bothost/contract';
import type { Browser, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { evaluateJavaScriptInBot } from '../../server/test/support/client.ts';
import { browserTest, launchBrowser } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';
import { openPage as openInspectedPage } from './support/inspected-page.ts';

/** Tests the talk page in a real browser, with the standard client, the built service and its parrot bot. */
/** Source of a bot that answers every HTTP request but accepts no WebSocket. */
const plainServer = `require('node:http').createServer((_, response) => response.end())
  .listen(Number(process.env.PORT), process.env.BOT_HOST);`;

let service: BuiltService;
let publicKey: string;
let withMicrophone: Browser;
let withoutMicrophone: Browser;

setUpBrowser(
  async (started) => {
    ({ service, browser: withMicrophone } = started);
    publicKey = service.publicKey;
    withoutMicrophone = await launchBrowser(null);
  },
  {
    bots: [
      ['failing', { websocketAuth: 'token' }],
      ['plain', { prelude: plainServer, alone: true }],
    ],
    hasMicrophone: true,
  },
);
afterAll(() => withoutMicrophone?.close());

const openPage = async (browser: Browser, path: string) =>
  openInspectedPage(service, await browser.newContext(), `${service.origin}${path}`);

const status = (page: Page) => page.getByRole('status');
const transcript = (page: Page) => page.getByRole('log', { name: 'Transcript' });
const sessions = async (query = '') =>
  (await service.ask(`agents/parrot/sessions?${query}`))['sessions'] as { sessionId: string }[];
const closed = { completionStatus: 'WS_CONNECTION_CLOSED', endedAt: expect.any(String) };
const record = (sessionId: string) => service.ask(`agents/parrot/sessions/${sessionId}`);

/** Returns the pids of bots: all processes whose working directory is in the data directory, except the database. */
async function botProcesses(): Promise<number[]> {
  const data = service.environment['BOTHOST_DATA_DIR'] ?? '';
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const directories = await Promise.all(
    pids.map(async (pid) => [pid, await readlink(`/proc/${pid}/cwd`).catch(() => '')]),
  );
  return directories.flatMap(([pid, cwd]) => {
    const directory = String(cwd);
    return directory.startsWith(data) && !directory.startsWith(`${data}/postgres`) ? [Number(pid)] : [];
  });
}

/** Reads the session id from the command that the page shows. */
async function shownSession(page: Page, agent = 'parrot'): Promise<string> {
  const shown = page.getByText(new RegExp(`botcli cloud agent sessions ${agent} --id \\S+`)).first();
  return /--id (\S+)/.exec((await shown.textContent()) ?? '')?.[1] ?? '';
}

browserTest('the talk page sends voice and text to the parrot bot, and shows its replies', async () => {
  const { page, violations } = await openPage(withMicrophone, `/talk/parrot#key=${publicKey}`);
  expect(page.url()).toBe(`${service.origin}/talk/parrot`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  await transcript(page).getByText('I am the parrot').waitFor();
  const barWidth = (name: string) =>
    page.locator(`[data-meter=${name}] span span`).evaluate((bar) => bar.getBoundingClientRect().width);
  await expect.poll(() => barWidth('Bot'), { interval: 20 }).toBeGreaterThan(10);
  await expect.poll(() => barWidth('You'), { interval: 20, timeout: 10_000 }).toBeGreaterThan(10);
  await transcript(page)
    .getByText(/^I heard 1\.\d seconds of you$/)
    .first()
    .waitFor();
  await transcript(page).getByText('You spoke').first().waitFor();

  await page.getByLabel('Write to parrot').fill('pretty bird');
  await page.keyboard.press('Enter');
  await transcript(page).getByText('Rraawk! pretty bird').waitFor();
  const first = await shownSession(page);

  await page.getByRole('button', { name: 'Mute' }).click();
  await page.getByRole('button', { name: 'Mute', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await status(page).getByText('The session has ended.').waitFor();
  await expect.poll(() => record(first)).toMatchObject(closed);
  expect(violations).toEqual([]);

  await page.getByRole('button', { name: 'Start again' }).click();
  await status(page).getByText('Ready').waitFor();
  const second = await shownSession(page);
  expect(second).not.toBe(first);
  await page.close();
  await expect.poll(() => record(second)).toMatchObject(closed);
});

browserTest('the talk page connects without a microphone and sends text', async () => {
  const { page, violations } = await openPage(withoutMicrophone, `/talk/parrot#key=${publicKey}`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  await page.getByText('No microphone found').waitFor();
  expect(await page.getByRole('button', { name: 'Mute' }).count()).toBe(0);
  await page.getByLabel('Write to parrot').fill('hello');
  await page.getByRole('button', { name: 'Send' }).click();
  await transcript(page).getByText('Rraawk! hello').waitFor();
  const shown = await shownSession(page);
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await expect.poll(() => record(shown)).toMatchObject(closed);
  expect(violations).toEqual([]);
  await page.close();
});

browserTest('the talk page shows a stopped session as ended and a lost connection as an error', async () => {
  const { page } = await openPage(withMicrophone, `/talk/parrot#key=${publicKey}`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  const stopped = await shownSession(page);
  await service.ask(`agents/parrot/sessions/${stopped}`, 'DELETE');
  await status(page).getByText('The session has ended.').waitFor();
  await page.getByRole('button', { name: 'Start again' }).click();
  await status(page).getByText('Ready').waitFor();
  for (const pid of await botProcesses()) process.kill(pid, 'SIGKILL');
  await page.getByRole('alert').getByText('The bot failed.').waitFor();
  expect(await record(stopped)).toMatchObject({ completionStatus: 'SESSION_STOPPED' });
  await page.close();
});

browserTest(
  'the talk page continues after an error of the bot, but ends the conversation after a fatal error',
  async () => {
    const { page, violations } = await openPage(withoutMicrophone, `/talk/failing#key=${publicKey}`);
    await page.getByRole('button', { name: 'Start talking' }).click();
    await status(page).getByText('Connecting to the bot').waitFor();
    const sessionId = await shownSession(page, 'failing');
    /** Makes the bot send an RTVI message, in the frames of Pipecat's protobuf serializer. */
    const send = (type: string, data: object) => {
      const message = JSON.stringify({ label: 'rtvi-ai', type, id: '1', data });
      const field = (tag: number, bytes: Buffer) =>
        Buffer.concat([Buffer.from([tag, 0x80 | (bytes.length & 0x7f), bytes.length >> 7]), bytes]);
      const frame = field(0x22, field(0x0a, Buffer.from(message))).toString('base64');
      const code = `for (const socket of sockets.clients) socket.send(Buffer.from('${frame}', 'base64')); sockets.clients.size`;
      return evaluateJavaScriptInBot({ url: service.origin, publicKey }, 'failing', sessionId, code);
    };
    await expect.poll(() => send('error', { error: 'DeepgramSTTService: wrong key', fatal: false })).toBe(1);
    await send('error', { error: 'DeepgramSTTService: wrong key', fatal: false });
    const alert = page.getByRole('alert');
    await alert.getByText('DeepgramSTTService reported').waitFor();
    await alert.getByText('wrong key (2 times)').waitFor();
    await alert.getByText("Check the service's key in the secrets of the agent").waitFor();
    await page.getByText(`botcli cloud agent logs failing --session ${sessionId}`).waitFor();
    await send('bot-ready', { version: '2.0.0' });
    await status(page).getByText('Ready').waitFor();
    await send('bot-output', { text: 'still here', segment_id: 1 });
    await transcript(page).getByText('still here').waitFor();
    const call = { tool_call_id: 'a', function_name: 'get_weather' };
    await send('llm-function-call-in-progress', call);
    await transcript(page).getByText('get_weather').waitFor();
    await send('llm-function-call-stopped', { ...call, cancelled: false });
    await transcript(page)
      .getByText(/^Tool get_weather completed after [\d.]+ m?s$/)
      .waitFor();
    await send('metrics', { ttfb: [{ processor: 'OpenAILLMService#0', value: 0.4 }] });
    await page.getByRole('region', { name: 'Services' }).getByText('400 ms, 400 ms').waitFor();
    // The page may end the session before the bot has responded.
    await send('error', { error: 'out of memory', fatal: true }).catch(() => undefined);
    await alert.getByText('out of memory').waitFor();
    expect(await alert.count()).toBe(1);
    await status(page).getByText('The conversation failed.').waitFor();
    expect(violations).toEqual([]);
    await page.close();
  },
);

browserTest('the talk page shows why a bot without a WebSocket cannot be reached', async () => {
  const { page, violations } = await openPage(withoutMicrophone, `/talk/plain#key=${publicKey}`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  const cause = 'The bot did not accept the WebSocket and responded with 200 OK.';
  await page.getByRole('alert').getByText(cause).waitFor();
  expect(violations).toEqual([]);
  await page.close();
});

browserTest('the talk page shows the error messages of the service', async () => {
  const { page } = await openPage(withMicrophone, `/talk/parrot#key=${generateApiKey('public', randomBytes(64))}`);
  await page.getByRole('alert').getByText('This key is not valid here.').waitFor();
  await page.getByRole('button', { name: 'Use another key' }).click();
  await page.getByLabel('Public key').fill('sk_abc');
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByRole('alert').getByText('This is a private key').waitFor();
  await page.getByLabel('Public key').fill(publicKey);
  await page.keyboard.press('Enter');
  // The public key entered in this browser tab is also used on the page of another agent.
  await page.goto(`${service.origin}/talk/nobody`);
  await page.getByRole('alert').getByText('The organization of this key has no agent nobody.').waitFor();
  expect(await sessions('status=active')).toEqual([]);
  await page.close();
});

browserTest('the talk page reports a mistyped key in a link without asking the service', async () => {
  const { page } = await openPage(withoutMicrophone, `/talk/parrot#key=pk_${'x'.repeat(49)}`);
  await page.getByRole('alert').getByText('This key is mistyped').waitFor();
  await page.close();
});

browserTest('the start page and the talk page work with the keyboard alone', async () => {
  const { page, violations } = await openPage(withMicrophone, '/');
  await page.getByLabel('Agent').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.origin}/talk/parrot`);
  await page.getByLabel('Public key').focus();
  await page.keyboard.insertText(publicKey);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start talking' }).focus();
  await page.keyboard.press('Enter');
  await status(page).getByText('Ready').waitFor();
  // The focus is now on the group of buttons, so the Tab key moves to Mute and then End.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await status(page).getByText('The session has ended.').waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Start again');
  expect(violations).toEqual([]);
  await page.close();
});
