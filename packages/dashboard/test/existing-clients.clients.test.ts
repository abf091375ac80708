import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { build, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { describeUnless } from '../../runtime/test/skip-with-reason.ts';
import { type DailyStandIn, startDailyStandIn } from '../../server/test/support/daily.ts';
import { hasBrowser, launchBrowser, noBrowser } from './support/browser.ts';
import {
  deployTalkingBot,
  talkingService as service,
  stopTalkingSession,
  talkingClient,
} from './support/talking-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether to test the earlier version of each client, too. */
    everyClient: boolean;
  }
}

/** Tests two versions of each of Pipecat's web clients with a Pipecat bot that runs in the service. */
type Versions = { readonly npm: Readonly<Record<string, readonly [newest: string, earlier: string]>> };
const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const { npm: packages } = JSON.parse(
  await readFile(fromRoot('test/existing-clients/versions.json'), 'utf8'),
) as Versions;

const agentName = 'existing-clients';
let folder: string;
let daily: DailyStandIn;
let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  folder = await mkdtemp(join(tmpdir(), 'bothost-talking-'));
  daily = await startDailyStandIn({ port: service.dailyPort });
  browser = await launchBrowser(folder);
  await deployTalkingBot(agentName, { websocketStart: 'minimal' }, (code) => {
    const first = 'async def bot(arguments: RunnerArguments) -> None:\n';
    expect(code).toContain(first);
    return code.replace(first, `${first}    print("body", arguments.body, flush=True)\n`);
  });
});
afterAll(async () => {
  await browser?.close();
  await daily?.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * A stand-in for the part of daily-js that it loads from Daily's server. It accepts the microphone, and keeps what daily-js asks it
 * to join. daily-js sends its requests as messages of the window, and expects a response with the same `callbackStamp`.
 */
const callMachine = `window.joined = new Promise((resolve) => {
  window.addEventListener('message', ({ data }) => {
    if (data?.what !== 'iframe-call-message' || data.from !== 'module') return;
    if (data.action === 'join-meeting') resolve({ url: data.properties.url, token: data.properties.token });
    else if (data.callbackStamp) window.postMessage({ ...data, from: 'embedded', camera: {}, mic: {}, speaker: {} });
  });
});`;

/**
 * Builds the test page with one version of each Pipecat package and returns the page's directory. The packages stay in the cache.
 */
async function buildPage(index: 0 | 1): Promise<string> {
  const dependencies = Object.fromEntries(Object.entries(packages).map(([name, versions]) => [name, versions[index]]));
  const root = join(inject('clientCache'), 'clients', `pipecat-${index}`);
  await mkdir(root, { recursive: true });
  await cp(fileURLToPath(new URL('support/pipecat-page', import.meta.url)), root, { recursive: true });
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies });
  const marker = join(root, 'node_modules', '.installed');
  if (!existsSync(marker) || (await readFile(marker, 'utf8')) !== manifest) {
    await writeFile(join(root, 'package.json'), manifest);
    await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: root });
    await writeFile(marker, manifest);
  }
  await build({ root, configFile: false, logLevel: 'error' });
  return root;
}

declare global {
  interface Window {
    startBot(transport: string, request: object): Promise<unknown>;
    startBotAndConnect(transport: string, request: object): Promise<string>;
    connect(transport: string, request: object): Promise<string>;
    /** What daily-js has asked its call machine to join. */
    readonly joined?: Promise<{ readonly url: string; readonly token: string }>;
    /** The last error that a client passed to its application. */
    readonly shownError?: string;
  }
}

describeUnless(noBrowser, 'the web clients of Pipecat', () => {
  describe.each([['newest', 0] as const, ...(inject('everyClient') ? [['earlier', 1] as const] : [])])(
    'the web clients of Pipecat (%s release)',
    (_, index) => {
      let page: Page;
      const start = () => ({ endpoint: `${service.origin}/v1/public/${agentName}/start`, key: service.publicKey });

      beforeAll(async () => {
        const server = await preview({ root: await buildPage(index), configFile: false, preview: { port: 0 } });
        page = await browser.newPage();
        await page.goto(server.resolvedUrls?.local[0] ?? '');
        return async () => {
          await page.close();
          await server.close();
        };
      });

      test.each([
        ['webrtc', { transport: 'webrtc' }],
        ['websocket', { transport: 'websocket' }],
      ])('start a bot and talk to it with the transport %s', async (transport, requestData) => {
        const greeting = page.evaluate(([name, request]) => window.startBotAndConnect(name, request), [
          transport,
          { ...start(), requestData },
        ] as const);
        expect(await greeting).toContain('Good morning, you are through');
      });

      test('send request data through the session proxy to a running bot', async () => {
        const requestData = { transport: 'webrtc', enableDefaultIceServers: true };
        const started = await page.evaluate((request) => window.startBot('webrtc', request), {
          ...start(),
          requestData,
        });
        expect(started).toEqual({ sessionId: expect.any(String), iceConfig: { iceServers: [] } });
        const { sessionId } = started as { sessionId: string };
        onTestFinished(() => stopTalkingSession(agentName, sessionId));
        const endpoint = start().endpoint.replace('/start', `/sessions/${sessionId}/api/offer`);
        const request = { ...start(), endpoint, requestData: { name: 'Ada' } };
        await page.evaluate((offer) => window.connect('webrtc', offer), request);
        const { logs } = await talkingClient.getLogs({ params: { agentName }, query: { sessionId, limit: 1_000 } });
        expect(logs.map(({ log }) => log)).toContainEqual("body {'name': 'Ada'}");
      });

      test('show the error of the service when they request a room without a key of Daily', async () => {
        const request = { ...start(), requestData: { createDailyRoom: true, transport: 'daily' } };
        const refused = page.evaluate((offer) => window.startBotAndConnect('daily', offer), request);
        await expect(refused).rejects.toThrow('The organization has no key of this provider of rooms.');
        expect(await page.evaluate(() => window.shownError)).toContain(
          'The organization has no key of this provider of rooms.',
        );
      });

      test('join the room of the start response, with the token of the start response', async () => {
        const params = { provider: 'daily' };
        await talkingClient.connectRooms({ params, body: { apiKey: daily.apiKey } });
        onTestFinished(async () => void (await talkingClient.disconnectRooms({ params, query: { force: 'true' } })));
        await page.route('https://c.daily.co/**', (route) =>
          route.fulfill({ body: callMachine, headers: { 'access-control-allow-origin': '*' } }),
        );
        const responded = page.waitForResponse((response) => response.url().endsWith(`/${agentName}/start`));
        const request = { ...start(), requestData: { createDailyRoom: true, transport: 'daily' } };
        // The promise stays pending, because the stand-in completes no join.
        await page.evaluate((offer) => void window.startBotAndConnect('daily', offer), request);
        const { sessionId, dailyRoom, dailyToken } = await (await responded).json();
        await page.waitForFunction(() => window.joined !== undefined);
        expect(await page.evaluate(() => window.joined)).toEqual({ url: dailyRoom, token: dailyToken });
        expect(daily.tokens.get(dailyToken)).toEqual({
          room_name: `bothost-${sessionId.replaceAll('-', '')}`,
          exp: expect.any(Number),
        });
        // This bot cannot join rooms, so its session ends by itself.
        await expect.poll(daily.rooms, { timeout: 20_000 }).toEqual([]);
      });
    },
  );
});
