import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { describeUnless, testUnless } from '../../runtime/test/skip-with-reason.ts';
import { hasBrowser, launchBrowser, noBrowser } from './support/browser.ts';
import {
  buildClientForTransport,
  type ClientKind,
  clientKinds,
  clientTransports,
  type GeneratedClient,
  readContentSecurityPolicy,
  serveGeneratedClient,
  setUpGeneratedClient,
} from './support/generated-client.ts';
import { runBotLocally } from './support/local-bot.ts';
import {
  deployTalkingBot,
  talkingService as service,
  stopTalkingSession,
  talkingClient,
} from './support/talking-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A cache directory that is kept between runs. */
    clientCache: string;
    /** Whether to repeat conversations and builds with every transport. Otherwise, each kind of client repeats one. */
    everyClient: boolean;
    /** A directory that contains the program uv, or an empty string if uv could not be installed. */
    uvFolder: string;
  }
}

/**
 * Installs, lints, type-checks and builds the web clients that `botcli init` generates, and uses them in a browser with a
 * Pipecat bot that runs in the service and under Pipecat's development runner.
 */
const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const cache = inject('clientCache');
/** Environment variables that package managers need. */
const inherited = Object.fromEntries(
  Object.entries(import.meta.env).filter(
    ([name, value]) =>
      typeof value === 'string' &&
      /^(PIP_|UV_|npm_config_registry$|https?_proxy$|no_proxy$|SSL_CERT_|NODE_EXTRA_CA)/i.test(name),
  ),
) as Readonly<Record<string, string>>;

const agentName = 'talking-bot';
let browser: Browser;
let program: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launchBrowser(service.folder);
  program = join(service.folder, 'botcli', 'main.js');
  const outDir = join(service.folder, 'botcli');
  const configFile = fromRoot('packages/cli/vite.config.ts');
  await build({ root: fromRoot('packages/cli'), configFile, logLevel: 'error', build: { outDir } });
  await deployTalkingBot(agentName);
});

afterAll(() => browser?.close());

const labels = ['Peer to peer', 'WebSocket'];
/** Transports for a repetition with a kind of client: all, or another one for each kind. */
const sample = (transports: readonly string[], kind: ClientKind) =>
  inject('everyClient')
    ? transports
    : transports.filter((_, index) => index === clientKinds.indexOf(kind) % transports.length);

type Bot = Parameters<typeof serveGeneratedClient>[1];

/**
 * Opens the page of a client, and closes it when the test ends. `hosts` collects the hosts that the page contacts, except its
 * own.
 */
async function open(client: GeneratedClient, bot: Bot): Promise<{ page: Page; hosts: Set<string> }> {
  const pages = await serveGeneratedClient(client, bot);
  onTestFinished(pages.close);
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const hosts = new Set<string>();
  const note = (url: string) => {
    if (/^(https?|wss?):/.test(url) && !url.startsWith(pages.origin)) hosts.add(new URL(url).host);
  };
  page.on('request', (request) => note(request.url()));
  page.on('websocket', (socket) => note(socket.url()));
  await page.goto(pages.origin);
  return { page, hosts };
}

const talk = (page: Page) => page.getByRole('button', { name: /^Talk/ });
const hasStatus = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor();
const waitForTranscript = (page: Page, text: string) =>
  page.getByRole('list', { name: 'Transcript' }).getByText(text).waitFor();
const selectTransport = (page: Page, label: string) =>
  page.getByRole('combobox', { name: 'How to connect' }).selectOption({ label });
const errorOf = async (page: Page) => (await page.getByRole('alert').allTextContents()).join('');

/** Has a conversation with the bot, from the start button to the end, then starts a second conversation. */
async function converse(page: Page, label: string): Promise<void> {
  await selectTransport(page, label);
  await talk(page).click();
  await hasStatus(page, 'Connecting …');
  await hasStatus(page, 'Connected');
  await waitForTranscript(page, 'Good morning, you are through');
  await waitForTranscript(page, 'One tone at a time');
  await waitForTranscript(page, 'I hear a tone');
  await page.getByRole('button', { name: 'Mute', exact: true }).click();
  await page.getByRole('button', { name: 'Unmute' }).click();
  expect(await errorOf(page)).toBe('');
  await page.getByRole('button', { name: 'Hang up' }).click();
  await hasStatus(page, 'Ended');
  await page.getByRole('button', { name: 'Talk again' }).click();
  await waitForTranscript(page, 'Good morning, you are through');
}

async function stopSessions(): Promise<void> {
  const { sessions } = await talkingClient.getSessions({ params: { agentName }, query: { status: 'active' } });
  for (const { sessionId } of sessions) await stopTalkingSession(agentName, sessionId);
}

/** Types a message to the bot, and checks the metrics and events that the page shows. */
async function typeAndInspect(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill('good evening');
  await page.keyboard.press('Enter');
  await waitForTranscript(page, 'You typed good evening');
  await page.getByText('Metrics and events').click();
  await page.getByRole('row', { name: 'Answer, first output' }).getByText('250 ms').waitFor();
  const events = page.getByRole('list', { name: 'Events' });
  for (const text of ['Connection: ready', 'Bot started speaking']) {
    await events.getByText(text).first().waitFor();
  }
  await page.getByText('Metrics and events').click();
}

describeUnless(noBrowser, 'generated clients', () => {
  describe.each(clientKinds)('a generated client of the kind %s', (kind) => {
    let client: GeneratedClient;
    beforeAll(async () => {
      client = await setUpGeneratedClient(kind, program, cache, {
        ...inherited,
        PATH: import.meta.env['PATH'],
        HOME: service.folder,
      });
    });

    test('talks to a bot on the service over both transports, and shows when the bot leaves', async () => {
      const startUrl = `${service.origin}/v1/public/${agentName}/start`;
      const policy = await readContentSecurityPolicy(program, join(service.folder, 'policy'), service.origin);
      const { page, hosts } = await open(client, { startUrl, publicKey: service.publicKey, policy });
      expect(await page.title()).toBe('Garden line');
      for (const label of labels) {
        await converse(page, label);
        await stopSessions();
        await hasStatus(page, 'Ended');
      }
      // Check that the page loads nothing from third parties.
      const own = kind === 'react-nextjs' ? /^127\.0\.0\.1:/ : new RegExp(`^${new URL(service.origin).host}$`);
      for (const host of hosts) expect(host).toMatch(own);
    });

    test('talks to a bot in the local runner, and shows an error if the bot cannot be reached', async () => {
      const bot = await runBotLocally(cache, inject('uvFolder'));
      onTestFinished(bot.close);
      const { page } = await open(client, { startUrl: bot.startUrl, publicKey: null });
      for (const label of sample(labels, kind)) {
        await converse(page, label);
        await page.getByRole('button', { name: 'Hang up' }).click();
        await hasStatus(page, 'Ended');
      }
      await bot.close();
      await talk(page).click();
      await hasStatus(page, 'Failed');
      expect(await errorOf(page)).toMatch(/^The bot cannot be reached/);
    });

    testUnless(
      kind === 'vanilla' ? 'not applicable: this client has no controls' : null,
      'sends typed text, shows metrics and events, and uses the chosen microphone',
      async () => {
        const bot = await runBotLocally(cache, inject('uvFolder'));
        onTestFinished(bot.close);
        const { page } = await open(client, { startUrl: bot.startUrl, publicKey: null });
        for (const label of sample(labels, kind)) {
          await selectTransport(page, label);
          await talk(page).click();
          await waitForTranscript(page, 'I hear a tone');
          await typeAndInspect(page);
          await page.getByRole('button', { name: 'Hang up' }).click();
          await page.getByRole('combobox', { name: 'Microphone' }).selectOption({ label: 'Fake Audio Input 2' });
          await talk(page).click();
          await waitForTranscript(page, 'I hear a tone');
          await page.getByRole('button', { name: 'Hang up' }).click();
        }
        expect(await errorOf(page)).toBe('');
      },
    );

    test('shows an error for a wrong key, an unreachable hosted room and a blocked microphone', async () => {
      const startUrl = `${service.origin}/v1/public/${agentName}/start`;
      const { page, hosts } = await open(client, { startUrl, publicKey: `pk_${'x'.repeat(40)}` });
      await talk(page).click();
      await hasStatus(page, 'Failed');
      expect(await errorOf(page)).toMatch(/key/i);

      // Block requests to Daily, from whose servers the page loads code for hosted rooms.
      await page.route(/^https:/, (route) => route.abort());
      await selectTransport(page, 'Hosted room');
      await talk(page).click();
      await hasStatus(page, 'Connecting …');
      await hasStatus(page, 'Failed');
      expect(await errorOf(page)).toContain('The room cannot be reached');
      expect([...hosts]).toContain('c.daily.co');

      hosts.clear();
      await page.evaluate(() => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'));
      });
      await selectTransport(page, 'Peer to peer');
      await talk(page).click();
      await page.getByRole('alert').getByText('blocks the microphone for this page').waitFor();
      expect([...hosts]).toEqual([]);
    });

    // This must be the last test, because it overwrites the generated client.
    test('has no type errors and can be built with any single transport', async () => {
      for (const transport of sample(clientTransports, kind)) await buildClientForTransport(client, program, transport);
    }, 400_000);
  });
});
