import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

/** The page in a real browser, with the stock client and a real parrot; only the service between them is a stand-in. */
const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const required = import.meta.env['CI'] === 'true';
if (program === undefined && !required) console.info('Skipped: no Chromium at /usr/bin/chromium.');
const browserTest = test.skipIf(program === undefined && !required);

const publicKey = 'pk_browsertestkeyofatleastthirtytwocharacters';
const sessionId = '3f8c2c1e-7a57-4a43-9f0e-0c3f6f1f9a11';
const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let folder: string;
let parrot: ChildProcess;
let parrotPort: number;
let service: Server;
let origin: string;
let withMicrophone: Browser;
let withoutMicrophone: Browser;

beforeAll(async () => {
  if (program === undefined) {
    if (required) throw new Error('Chromium is missing: apt-get install chromium');
    return;
  }
  folder = await mkdtemp(join(tmpdir(), 'talk-page-'));
  await buildInto('packages/dashboard', 'page');
  await buildInto('examples/parrot', 'parrot');
  const voice = join(folder, 'voice.wav');
  await writeFile(voice, spokenWav());
  service = await startStandIn();
  origin = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const microphone = [
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${voice}`,
  ];
  withMicrophone = await chromium.launch({ executablePath: program, args: [...browserArguments, ...microphone] });
  withoutMicrophone = await chromium.launch({ executablePath: program, args: browserArguments });
});

afterAll(async () => {
  if (folder === undefined) return;
  await Promise.all([withMicrophone?.close(), withoutMicrophone?.close()]);
  service?.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  if (program === undefined) return;
  parrot = spawn(execPath, [join(folder, 'parrot/main.js')], {
    env: { PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(parrot.stdout ?? parrot, 'data');
  parrotPort = Number(/listening on .*:(\d+)/.exec(String(line))?.[1]);
});

afterEach(async () => {
  if (program === undefined) return;
  if (parrot.exitCode !== null || parrot.signalCode !== null) return;
  const exited = once(parrot, 'exit');
  parrot.kill('SIGKILL');
  await exited;
});

async function buildInto(project: string, name: string): Promise<void> {
  await build({
    root: fromRoot(project),
    configFile: fromRoot(`${project}/vite.config.ts`),
    logLevel: 'error',
    resolve: { alias: { '@bothost/contract': fromRoot('packages/contract/src/index.ts') } },
    build: { outDir: join(folder, name), emptyOutDir: true },
  });
}

/** Three seconds of silence and one of a tone with overtones, again and again: somebody who says one word at a time. */
function spokenWav(): Buffer {
  const rate = 48_000;
  const samples = new Int16Array(4 * rate);
  for (let i = 3 * rate; i < samples.length; i++) {
    const t = (2 * Math.PI * i) / rate;
    samples[i] = 6000 * (Math.sin(180 * t) + 0.5 * Math.sin(360 * t) + 0.25 * Math.sin(540 * t));
  }
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** What of the service the page sees: its own files under a strict policy, the start request, and the socket. */
async function startStandIn(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://service');
    response.setHeader('content-security-policy', "default-src 'self'; script-src 'self' blob:");
    if (request.method === 'POST') {
      const failure = failureOf(pathname, request.headers.authorization);
      response.writeHead(failure === undefined ? 200 : Number(failure.code), { 'content-type': 'application/json' });
      const wsUrl = `ws://${request.headers.host}/ws/generic/parrot.org`;
      response.end(JSON.stringify(failure ?? { sessionId, wsUrl, token: 'once' }));
      return;
    }
    const file = pathname.startsWith('/assets/') ? pathname : '/index.html';
    response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
    response.end(await readFile(join(folder, 'page', file)).catch(() => ''));
  });
  server.on('upgrade', (request, socket) => {
    if (request.url !== '/ws/generic/parrot.org?token=once') return socket.destroy();
    const bot = connect(parrotPort, '127.0.0.1', () => {
      const headers = request.rawHeaders.map((text, i) => text + (i % 2 === 0 ? ': ' : '\r\n')).join('');
      bot.write(`GET /ws HTTP/1.1\r\n${headers}\r\n`);
      socket.pipe(bot).pipe(socket);
    });
    for (const end of [bot, socket]) end.on('error', () => {});
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function failureOf(path: string, authorization: string | undefined) {
  const failure = (code: string, error: string) => ({ error, code, info: error, reason: 'test', requestId: 'r' });
  if (authorization !== `Bearer ${publicKey}`) return failure('401', 'This API key is not valid here.');
  if (path !== '/v1/public/parrot/start') return failure('404', 'Not found: no such agent or session.');
  return undefined;
}

interface OpenPage {
  readonly page: Page;
  /** What the page must not do: break its own policy, ask another host, fail unseen. */
  readonly sins: string[];
}

async function openPage(browser: Browser, path: string): Promise<OpenPage> {
  const page = await browser.newPage();
  const sins: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith(`blob:${origin}`)) sins.push(request.url());
  });
  page.on('pageerror', (error) => sins.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) sins.push(message.text());
  });
  await page.goto(`${origin}${path}`);
  return { page, sins };
}

const status = (page: Page) => page.locator('.status');
const said = (page: Page) => page.locator('.transcript');
const session = async () => (await fetch(`http://127.0.0.1:${parrotPort}/_bot/session`)).json();

browserTest('a person talks to the parrot with the stock client, by voice and by text', async () => {
  const { page, sins } = await openPage(withMicrophone, `/talk/parrot#key=${publicKey}`);
  expect(page.url()).toBe(`${origin}/talk/parrot`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  await said(page).getByText('I am the parrot').waitFor();
  const barWidth = (name: string) =>
    page
      .locator('.meter', { hasText: name })
      .locator('.meter-bar')
      .evaluate((bar) => bar.getBoundingClientRect().width);
  await expect.poll(() => barWidth('Bot'), { interval: 20 }).toBeGreaterThan(10);
  await expect.poll(() => barWidth('You'), { interval: 20, timeout: 10_000 }).toBeGreaterThan(10);
  await said(page)
    .getByText(/^I heard 1\.\d seconds of you$/)
    .first()
    .waitFor();
  await said(page).getByText('You spoke').first().waitFor();

  await page.getByLabel('Write to parrot').fill('pretty bird');
  await page.keyboard.press('Enter');
  await said(page).getByText('Rraawk! pretty bird').waitFor();
  await page.getByText(`npx botcli cloud agent sessions parrot --id ${sessionId}`).waitFor();

  await page.getByRole('button', { name: 'Mute' }).click();
  await page.getByRole('button', { name: 'Mute', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await status(page).getByText('The session has ended.').waitFor();
  await expect.poll(session).toMatchObject({ state: 'ended' });
  expect(sins).toEqual([]);

  await page.getByRole('button', { name: 'Start again' }).click();
  await status(page).getByText('Ready').waitFor();
  await page.close();
  await expect.poll(session).toMatchObject({ state: 'ended' });
});

browserTest('without a microphone the page connects all the same, and text works', async () => {
  const { page, sins } = await openPage(withoutMicrophone, `/talk/parrot#key=${publicKey}`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  await page.getByText('No microphone').waitFor();
  expect(await page.getByRole('button', { name: 'Mute' }).count()).toBe(0);
  await page.getByLabel('Write to parrot').fill('hello');
  await page.getByRole('button', { name: 'Send' }).click();
  await said(page).getByText('Rraawk! hello').waitFor();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await expect.poll(session).toMatchObject({ state: 'ended' });
  expect(sins).toEqual([]);
  await page.close();
});

browserTest('a session that the service ends is told as ended, and one that breaks off as an error', async () => {
  const { page } = await openPage(withMicrophone, `/talk/parrot#key=${publicKey}`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  await fetch(`http://127.0.0.1:${parrotPort}/_bot/stop`, { method: 'POST', body: '{}' });
  await status(page).getByText('The session has ended.').waitFor();
  await page.getByRole('button', { name: 'Start again' }).click();
  await status(page).getByText('Ready').waitFor();
  parrot.kill('SIGKILL');
  await page.getByRole('alert').getByText('The connection to the bot broke off (code 1006).').waitFor();
  await page.close();
});

browserTest('failures are shown in the words of the service', async () => {
  const { page } = await openPage(withMicrophone, `/talk/parrot#key=${publicKey}x`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await page.getByRole('alert').getByText('This API key is not valid here.').waitFor();
  await page.getByRole('button', { name: 'Use another key' }).click();
  await page.getByLabel('Public key').fill('sk_abc');
  await page.getByRole('button', { name: 'Use it' }).click();
  await page.getByRole('alert').getByText('This is a secret key').waitFor();
  await page.getByLabel('Public key').fill(publicKey);
  await page.keyboard.press('Enter');
  // Kept for the tab, and only for it.
  await page.goto(`${origin}/talk/nobody`);
  await page.getByRole('button', { name: 'Start talking' }).click();
  await page.getByRole('alert').getByText('Not found: no such agent or session.').waitFor();
  expect(await session()).toMatchObject({ state: 'idle' });
  await page.close();
});

browserTest('the start page leads to an agent by keyboard alone', async () => {
  const { page, sins } = await openPage(withMicrophone, '/');
  await page.getByLabel('Agent').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${origin}/talk/parrot`);
  await page.getByLabel('Public key').focus();
  await page.keyboard.insertText(publicKey);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start talking' }).focus();
  await page.keyboard.press('Enter');
  await status(page).getByText('Ready').waitFor();
  // Focus stays where Start was: Mute and End are the next two.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await status(page).getByText('The session has ended.').waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Start again');
  expect(sins).toEqual([]);
  await page.close();
});
