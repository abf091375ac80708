import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { evaluateJavaScriptInBot } from '../../server/test/support/client.ts';
import { createInvitationLink, signUp } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';
import { checkLayoutAndAccessibility, openPage } from './support/inspected-page.ts';

/** Tests the talk pages of an organization, and conversations over WebRTC, in a real browser with the built service. */

/** Code of the test bot: keeps a WebRTC offer until the test passes it to another browser page, which creates the answer. */
const prelude = `queueMicrotask(() => {
  state.onRequest = async (request, response) => {
    if (request.url !== '/api/offer') return response.writeHead(404).end();
    if (request.method === 'PATCH') return response.end('{}');
    state.offer = JSON.parse(await textOf(request)).sdp;
    state.answer = (answer) => response.end(answer);
  };
});`;

/** Code of a bot that accepts only WebRTC, and whose call over a WebSocket raises an exception. */
const webrtcOnly = `queueMicrotask(() => {
  const report = JSON.stringify({ state: 'idle', transports: ['webrtc'] });
  state.onRequest = ({ url }, response) =>
    url.startsWith('/_bot/session') ? response.end(report) : response.writeHead(404).end();
  state.onSocket = (socket) => {
    console.error('Traceback (most recent call last):');
    console.error('  File "/app/bot.py", line 3, in bot');
    console.error('ValueError: transport websocket is not in transport_params');
    socket.close(1011);
  };
});`;

let service: BuiltService;
let browser: Browser;
let context: BrowserContext;

setUpBrowser(
  async (started) => {
    ({ service, browser } = started);
    context = await browser.newContext();
  },
  {
    bots: [
      ['peer', { prelude }],
      ['picky', { prelude: webrtcOnly }],
    ],
    hasMicrophone: true,
  },
);

const status = (page: Page) => page.getByRole('status');
const transcript = (page: Page) => page.getByRole('log', { name: 'Transcript' });

browserTest('a signed-in person talks to an agent of the organization without a key', async () => {
  const { page, violations } = await signUp(service, context, await createInvitationLink(service, 'ada@example.com'));
  await page.getByRole('link', { name: 'Talk', exact: true }).click();
  await page.getByRole('link', { name: 'Talk to parrot' }).click();
  await page.waitForURL(`${service.origin}/orgs/home/talk/parrot`);
  await page.getByRole('button', { name: 'Start talking' }).waitFor();
  await checkLayoutAndAccessibility(page, 'talk-idle');

  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  await page.getByLabel('Microphone').selectOption({ index: 1 });
  await page.getByLabel('Speaker').selectOption({ index: 1 });
  await transcript(page)
    .getByText(/^I heard 1\.\d seconds of you$/)
    .first()
    .waitFor();
  await page.getByLabel('Write to parrot').fill('pretty bird');
  await page.keyboard.press('Enter');
  await transcript(page).getByText('Rraawk! pretty bird').waitFor();
  await page.getByText(/Reply after [\d.]+ m?s, median/).waitFor();
  await transcript(page)
    .getByText(/ · after [\d.]+ m?s$/)
    .first()
    .waitFor();
  await page.getByText('Connected', { exact: true }).first().waitFor();
  const events = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
  await expect.poll(() => events.count()).toBeGreaterThan(3);
  await page.getByLabel('Filter events').fill('botready');
  await expect.poll(() => events.locator('summary span:last-child').allTextContents()).toEqual(['Bot ready']);
  await page.getByLabel('Filter events').fill('');
  await checkLayoutAndAccessibility(page, 'talk-live');
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await status(page).getByText('The session has ended.').waitFor();
  await checkLayoutAndAccessibility(page, 'talk-ended');
  const opened = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Open the session' }).click();
  const session = await opened;
  await session.getByRole('heading', { name: 'Session of parrot' }).waitFor();
  await session.close();
  await page.getByRole('link', { name: 'Read its log' }).waitFor();

  // The link that `botcli` prints names no organization.
  await page.goto(`${service.origin}/talk/parrot?transport=webrtc`);
  await page.waitForURL(`${service.origin}/orgs/home/talk/parrot?transport=webrtc`);
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('peer');
  await page.waitForURL(`${service.origin}/orgs/home/talk/peer`);
  await page.getByRole('button', { name: 'Start talking' }).waitFor();
  await page.goto(`${service.origin}/orgs/home/talk/nobody`);
  await page.getByRole('alert').getByText('no agent with this name').waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.waitForURL(/\/sign-in/);
  expect(violations).toEqual([]);
  await page.close();
});

browserTest('a viewer talks to an agent once an owner has allowed it', async () => {
  const invitation = await createInvitationLink(service, 'victor@example.com', '--role', 'viewer');
  const { page, violations } = await signUp(service, await browser.newContext(), invitation);
  await page.goto(`${service.origin}/orgs/home/talk/parrot`);
  await page.getByRole('alert').getByText('Viewers of this organization may not start sessions.').waitFor();
  await checkLayoutAndAccessibility(page, 'talk-viewer');

  const link = await createInvitationLink(service, 'olga@example.com');
  const { page: settings } = await signUp(service, await browser.newContext(), link);
  await settings.goto(`${service.origin}/orgs/home/settings/general`);
  await settings.getByLabel('Sessions of viewers').selectOption('yes');
  await checkLayoutAndAccessibility(settings, 'settings-viewers');
  await settings.getByRole('button', { name: 'Save' }).first().click();
  await settings.getByText('The organization is changed.').waitFor();

  await page.reload();
  await page.getByRole('button', { name: 'Start talking' }).click();
  await status(page).getByText('Ready').waitFor();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  expect(violations).toEqual([]);
});

browserTest(
  'the talk page preselects a transport of the bot, and shows the exception of a bot that fails',
  async () => {
    const link = await createInvitationLink(service, 'paula@example.com');
    const { page, violations } = await signUp(service, await browser.newContext(), link);
    await page.goto(`${service.origin}/orgs/home/talk/picky`);
    const transport = page.getByLabel('Transport');
    await expect.poll(() => transport.inputValue()).toBe('webrtc');
    await page.getByText('The bot accepts: WebRTC.').waitFor();
    await transport.selectOption('websocket');
    await page.waitForURL(/\?transport=websocket$/);
    await page.getByRole('button', { name: 'Start talking' }).click();
    await page.getByRole('alert').getByText('The bot failed.').waitFor();
    // The cause comes before the transport's error.
    const cause = page.getByRole('alert').first();
    await cause.getByText('The bot raised ValueError: transport websocket is not in transport_params').waitFor();
    await page.getByText('The bot accepts WebRTC, not WebSocket.').waitFor();
    await checkLayoutAndAccessibility(page, 'talk-failed');
    expect(violations).toEqual([]);
    await page.context().close();
  },
);

browserTest('the talk page holds a conversation with a bot over WebRTC', async () => {
  const { page, violations } = await talkToPeer({ acceptsVideo: false });
  await page.getByLabel('Write to peer').fill('hello');
  await page.keyboard.press('Enter');
  await transcript(page).getByText('You wrote hello').waitFor();
  const barWidth = (name: string) =>
    page.locator(`[data-meter=${name}] span span`).evaluate((bar) => bar.getBoundingClientRect().width);
  await expect.poll(() => barWidth('Bot'), { interval: 20, timeout: 10_000 }).toBeGreaterThan(10);
  await expect.poll(() => barWidth('You'), { interval: 20, timeout: 10_000 }).toBeGreaterThan(10);
  expect(await page.getByRole('button', { name: /Camera|Share screen/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await status(page).getByText('The session has ended.').waitFor();
  expect(violations).toEqual([]);
  await page.context().close();
});

browserTest(
  'the talk page sends camera and screen to a bot that accepts video, and shows the video of the bot',
  async () => {
    const { page, peer, violations } = await talkToPeer({ acceptsVideo: true });
    const camera = page.getByRole('button', { name: 'Camera' });
    const width = (label: string) =>
      page.getByLabel(`Video: ${label}`).evaluate((video) => (video as HTMLVideoElement).videoWidth);
    const received = () => peer.evaluate(() => receivedVideo());
    await expect.poll(() => width('peer')).toBeGreaterThan(0);

    // Refuse access to the camera the first time, and allow it the second time.
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = async () => {
        Reflect.deleteProperty(navigator.mediaDevices, 'getUserMedia');
        throw new DOMException('Permission denied', 'NotAllowedError');
      };
    });
    await camera.click();
    await page.getByRole('alert').getByText('The browser blocks the camera').waitFor();
    await camera.click();
    await expect.poll(() => width('Your camera')).toBeGreaterThan(0);
    await expect.poll(received).toMatchObject({ cameraFrames: expect.any(Number), cameraStatus: true });
    await page.getByRole('button', { name: 'Share screen' }).click();
    await expect.poll(() => width('Your screen')).toBeGreaterThan(0);
    await expect.poll(received).toMatchObject({ screenFrames: expect.any(Number), screenStatus: true });
    await checkLayoutAndAccessibility(page, 'talk-video');

    await camera.click();
    await expect.poll(received).toMatchObject({ cameraStatus: false, screenStatus: true });
    await page.getByLabel('Video: Your camera').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await status(page).getByText('The session has ended.').waitFor();
    expect(await page.locator('video').count()).toBe(0);
    expect(violations).toEqual([]);
    await page.context().close();
  },
  240_000,
);

/** Starts a conversation over WebRTC with the bot `peer`. A second page of the browser creates the answer to the WebRTC offer. */
async function talkToPeer({ acceptsVideo }: { readonly acceptsVideo: boolean }) {
  const peer = await createPeer();
  const opened = await openPage(
    service,
    await browser.newContext(),
    `${service.origin}/talk/peer#key=${service.publicKey}`,
  );
  const { page } = opened;
  await page.getByLabel('Transport').selectOption('webrtc');
  await page.waitForURL(/\?transport=webrtc$/);
  await page.getByRole('button', { name: 'Start talking' }).click();
  const command = page.getByText(/botcli cloud agent sessions peer --id \S+/);
  const sessionId = /--id (\S+)/.exec((await command.textContent()) ?? '')?.[1] ?? '';
  const ask = (code: string) =>
    evaluateJavaScriptInBot({ url: service.origin, publicKey: service.publicKey }, 'peer', sessionId, code);
  await expect.poll(() => ask('state.offer ?? null'), { timeout: 20_000 }).toEqual(expect.any(String));
  const sdp = await peer.evaluate(([offer, accepts]) => answerOffer(offer, accepts), [
    String(await ask('state.offer')),
    acceptsVideo,
  ] as const);
  await ask(`state.answer(${JSON.stringify(JSON.stringify({ type: 'answer', pc_id: '1', sdp }))}); 1`);
  await status(page).getByText('Ready').waitFor();
  return { ...opened, peer };
}

type ReceivedVideo = {
  /** Number of video frames that the peer has received from the camera. Absent until the first frame. */
  cameraFrames?: number;
  screenFrames?: number;
  /** Whether the talk page sends its camera, according to its last message to the peer. */
  cameraStatus?: boolean;
  screenStatus?: boolean;
};
declare function answerOffer(offer: string, acceptsVideo: boolean): Promise<string>;
declare function receivedVideo(): Promise<ReceivedVideo>;

/**
 * Opens a browser page that answers WebRTC offers like a bot: it sends audio and video, reports that it is ready, and repeats the
 * text that it receives.
 */
async function createPeer(): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${service.origin}/sign-in`);
  await page.evaluate(() => {
    const send = (channel: RTCDataChannel, type: string, data: object) =>
      channel.send(JSON.stringify({ label: 'rtvi-ai', id: '1', type, data }));
    const connection = new RTCPeerConnection();
    const names = ['microphone', 'camera', 'screen'];
    const statuses: Record<string, boolean> = {};
    connection.ondatachannel = ({ channel }) => {
      channel.onmessage = ({ data }) => {
        if (String(data).startsWith('ping')) return;
        const message = JSON.parse(data);
        if (message.type === 'client-ready') send(channel, 'bot-ready', { version: '2.0.0' });
        if (message.type === 'send-text') send(channel, 'bot-output', { text: `You wrote ${message.data.content}` });
        if (message.type === 'signalling' && message.message.type === 'trackStatus')
          statuses[`${names[message.message.receiver_index]}Status`] = message.message.enabled;
      };
    };
    Object.assign(window, {
      answerOffer: async (sdp: string, acceptsVideo: boolean) => {
        // Open the microphone: WebRTC needs the IP addresses of the machine, and browsers hide them from pages that may not use
        // a microphone.
        const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: acceptsVideo });
        await connection.setRemoteDescription({ type: 'offer', sdp });
        for (const track of stream.getTracks()) connection.addTrack(track, stream);
        for (const transceiver of connection.getTransceivers())
          if (transceiver.receiver.track.kind === 'video' && !acceptsVideo) transceiver.direction = 'inactive';
        await connection.setLocalDescription(await connection.createAnswer());
        await new Promise<void>((resolve) => {
          const check = () => connection.iceGatheringState === 'complete' && resolve();
          connection.addEventListener('icegatheringstatechange', check);
          check();
        });
        return connection.localDescription?.sdp ?? '';
      },
      receivedVideo: async () => {
        const frames: Record<string, number> = {};
        for (const stats of (await connection.getStats()).values())
          if (stats.type === 'inbound-rtp' && stats.framesDecoded > 0)
            frames[`${names[Number(stats.mid)]}Frames`] = stats.framesDecoded;
        return { ...frames, ...statuses };
      },
    });
  });
  return page;
}
