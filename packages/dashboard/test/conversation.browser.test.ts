import { readFile } from 'node:fs/promises';
import type { ConversationLevel, ConversationLine } from '@bothost/contract';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { evaluateJavaScriptInBot } from '../../server/test/support/client.ts';
import { createInvitationLink, signUp } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { createConversationLines } from './support/conversation-lines.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';

/** Tests the conversation on the page of a session, in a real browser with the built service. A scripted bot writes the lines. */
let service: BuiltService;
let browser: Browser;
let page: Page;
setUpDashboard(
  (dashboard) => {
    ({ service, browser, page } = dashboard);
  },
  { bots: [['crow', { conversationLevel: 'recording' }]] },
);

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const open = (sessionId: string, search = '') =>
  page.goto(`${service.origin}/orgs/home/sessions/${sessionId}${search}`);
const transcript = () => page.getByRole('listbox', { name: 'Transcript' });
const turns = () => transcript().getByRole('option');
const panel = (turn: string) => page.getByRole('region', { name: turn, exact: true });
const number = (name: string) =>
  page.getByRole('term').filter({ hasText: name }).locator('xpath=following-sibling::dd[1]');

async function startSession(maxConversationLevel: ConversationLevel): Promise<string> {
  const response = await fetch(`${service.origin}/v1/public/crow/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ maxConversationLevel }),
  });
  return String(((await response.json()) as { readonly sessionId: unknown }).sessionId);
}

const evaluate = (sessionId: string, code: string) =>
  evaluateJavaScriptInBot({ url: service.origin, publicKey: service.publicKey }, 'crow', sessionId, code);

/** Makes the bot append lines to the file of its conversation. */
async function writeLines(sessionId: string, lines: readonly ConversationLine[]): Promise<void> {
  const texts = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const code = `require('node:fs').appendFileSync(process.env.BOTHOST_CONVERSATION_FILE, ${JSON.stringify(texts)})`;
  await evaluate(sessionId, code);
}

/** Makes the bot append to the recording of its session. */
async function writeRecording(sessionId: string, bytes: Buffer): Promise<void> {
  const code = `require('node:fs').appendFileSync(process.env.BOTHOST_RECORDING_FILE, Buffer.from('${bytes.toString('base64')}', 'base64'))`;
  await evaluate(sessionId, code);
}

/** Ends a session. A page that is opened from now on does not follow the conversation. */
async function endSession(sessionId: string): Promise<void> {
  await evaluate(sessionId, "state.end(200, '')");
  const read = () => service.ask(`agents/crow/sessions/${sessionId}/conversation?limit=1`);
  await expect.poll(async () => (await read())['state'], { interval: 50 }).toMatch(/complete|none/);
}

browserTest(
  'the page of a live session shows each turn as it happens, a link opens a turn again, and the content can be deleted',
  async () => {
    const sessionId = await startSession('transcript');
    await writeLines(sessionId, createConversationLines({ turns: 5, isEnded: false }));
    await open(sessionId);
    await turns().last().getByText('Speaking…').waitFor();
    await panel('Turn 5').getByRole('list', { name: 'Stages of the response' }).getByText('Model').waitFor();
    await expect.poll(() => number('Turns').textContent()).toMatch(/^5/);
    await inspect('conversation-live');

    const html = '<img src="x" onerror="document.title = 1"> <b>bold</b>';
    await writeLines(sessionId, [
      ...createConversationLines({ turns: 7 }).filter((line) => 'turn' in line && Number(line.turn) >= 5),
      { kind: 'said', at: 50_000, turn: 7, side: 'user', text: html, from: 38_500, to: 40_300 },
    ]);
    await turns().filter({ hasText: html }).waitFor();
    await panel('Turn 7').getByText('Rate limit').waitFor();
    await expect.poll(() => number('Interruptions').textContent()).toBe('1');

    await transcript().focus();
    await page.keyboard.press('Home');
    await panel('Greeting').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await panel('Turn 3').getByRole('region', { name: 'Arguments' }).getByText('"city": "Lisbon"').waitFor();
    await page.waitForURL(/\?at=14\.5$/);
    await page.keyboard.press('k');
    await panel('Turn 2').waitFor();
    await page.reload();
    await panel('Turn 2').waitFor();
    await page.getByRole('button', { name: 'Follow the conversation' }).click();
    await panel('Turn 7').waitFor();

    await writeLines(sessionId, [{ kind: 'end', at: 51_000, reason: 'client-disconnected' }]);
    await endSession(sessionId);
    await page.getByText('The caller left').waitFor();
    await inspect('conversation-ended');
    for (const width of [360, 2_560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete conversation' }).click();
    await page.getByText('The content was deleted.').waitFor();
    expect(await turns().count()).toBe(0);
    await expect.poll(() => number('Turns').textContent()).toMatch(/^7/);
  },
  120_000,
);

browserTest(
  'a recording is played by click and by key, while the call runs and after it, and the selected turn follows',
  async () => {
    const audio = await readFile(new URL('support/recording.ogg', import.meta.url));
    const lines = createConversationLines({ turns: 3, hasPeaks: true });
    const sessionId = await startSession('recording');
    await writeLines(
      sessionId,
      lines.filter(({ kind }) => kind !== 'end'),
    );
    await writeRecording(sessionId, audio.subarray(0, audio.length / 3));
    await open(sessionId);
    const player = page.getByRole('group', { name: 'Recording' });
    const position = player.getByRole('slider', { name: 'Position in the recording' });
    const positionMs = async () => Number(await position.inputValue());
    await player.getByRole('combobox', { name: 'Playback rate' }).selectOption('2');
    await turns().filter({ hasText: 'Hello! How can I help?' }).getByText('Hello! How can I help?').click();
    await player.getByRole('button', { name: 'Pause' }).waitFor();
    await panel('Greeting').waitFor();
    await panel('Turn 1').waitFor();
    await player.getByText('The playback continues with the call.').waitFor();
    const reachedMs = await positionMs();
    await inspect('recording-live');
    await writeRecording(sessionId, audio.subarray(audio.length / 3));
    await expect.poll(positionMs, { timeout: 15_000 }).toBeGreaterThan(reachedMs + 500);
    await page.keyboard.press('p');
    await player.getByRole('button', { name: 'Play' }).waitFor();

    await writeLines(sessionId, [{ kind: 'end', at: 20_500, reason: 'client-disconnected' }]);
    await endSession(sessionId);
    await page.getByText('The caller left').waitFor();
    await page.reload();
    await turns()
      .filter({ hasText: '#3' })
      .click({ position: { x: 10, y: 10 } });
    await panel('Turn 3').waitFor();
    await page.keyboard.press('p');
    await expect.poll(positionMs).toBeGreaterThan(14_600);
    await page.keyboard.press('k');
    await panel('Turn 2').waitFor();
    await expect.poll(positionMs).toBeLessThan(14_000);
    await panel('Turn 3').waitFor();
    await page.keyboard.press('p');
    await inspect('recording-ended');
    const download = page.waitForEvent('download');
    await player.getByRole('link', { name: 'Download' }).click();
    expect(await readFile(await (await download).path())).toEqual(audio);
    for (const width of [360, 2_560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${service.origin}/orgs/home/settings/audit`);
    await page.locator('code', { hasText: 'recordings.play' }).first().waitFor();
  },
  120_000,
);

browserTest(
  'the page explains the levels timings and off, offers the setting, and shows responses from the release apart',
  async () => {
    const timed = await startSession('timings');
    await writeLines(timed, createConversationLines({ turns: 12, measuredFrom: 'release' }));
    await endSession(timed);
    await open(timed);
    await page.getByText('Only times and numbers are kept').waitFor();
    await turns().first().getByText('Spoke for 1.9 s').waitFor();
    await page.getByText('after the release of the turn').waitFor();
    expect(await page.getByText("after the caller's silence").count()).toBe(0);
    expect(await page.getByText('weather in Lisbon').count()).toBe(0);
    await inspect('conversation-timings');
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('combobox', { name: 'Conversation' }).selectOption('slow-1s');
    await page.getByRole('row').filter({ hasText: timed }).getByRole('cell', { name: '1.42 s' }).waitFor();
    await inspect('conversation-sessions');
    await open(timed);
    await page.getByRole('link', { name: 'Change the setting' }).click();
    await page.waitForURL(/\/agents\/crow\/settings$/);

    const off = await startSession('off');
    await writeLines(off, createConversationLines({ turns: 2 }));
    await endSession(off);
    await open(off);
    await page.getByText('The conversation of this session is off.').waitFor();
    await inspect('conversation-off');
  },
  120_000,
);

browserTest(
  'the page of a crashed bot shows the conversation up to the crash, and how many lines were invalid',
  async () => {
    const sessionId = await startSession('transcript');
    await writeLines(sessionId, createConversationLines({ turns: 4, isEnded: false }));
    await evaluate(
      sessionId,
      "require('node:fs').appendFileSync(process.env.BOTHOST_CONVERSATION_FILE, 'not a line\\n'); 1",
    );
    await evaluate(sessionId, 'process.exit(3)').catch(() => undefined);
    await open(sessionId);
    await page.getByRole('alert').getByText('The bot exited with status 3.').waitFor();
    await page.getByText('the end of the conversation may be missing').waitFor();
    await page.getByText('1 line left out.').waitFor();
    await expect.poll(() => turns().count()).toBe(5);
    await inspect('conversation-failed');
  },
  90_000,
);

browserTest(
  'a viewer sees the numbers of a conversation, but neither its text, its recording nor a button to delete it',
  async () => {
    const sessionId = await startSession('recording');
    await writeRecording(sessionId, Buffer.from('OggS'));
    await writeLines(sessionId, createConversationLines({ turns: 2 }));
    await endSession(sessionId);
    const link = await createInvitationLink(
      service,
      'viewer@example.com',
      '--organization',
      'home',
      '--role',
      'viewer',
    );
    const guest = await browser.newContext();
    const { page: theirs } = await signUp(service, guest, link);
    await theirs.goto(`${service.origin}/orgs/home/sessions/${sessionId}`);
    await theirs.getByText('What was said is hidden.').waitFor();
    await theirs.getByText('Viewers cannot read the log of this session').waitFor();
    await theirs.getByText('after the caller').first().waitFor();
    await theirs.getByText('Owners and members of the organization can play the recording.').waitFor();
    expect(await theirs.getByRole('group', { name: 'Recording' }).count()).toBe(0);
    expect(await theirs.getByText('How can I help?').count()).toBe(0);
    expect(await theirs.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await guest.close();
  },
);

browserTest(
  'a conversation of 400 turns renders only its visible turns, and the keyboard reaches all of them',
  async () => {
    const sessionId = await startSession('transcript');
    await writeLines(sessionId, createConversationLines({ turns: 400 }));
    await endSession(sessionId);
    await open(sessionId);
    await panel('Turn 1').waitFor();
    await transcript().focus();
    await page.keyboard.press('End');
    await panel('Turn 400').waitFor();
    await turns().last().getByText('#400').waitFor();
    expect(await turns().count()).toBeLessThanOrEqual(40);
    expect(await turns().last().getAttribute('aria-posinset')).toBe('401');
    await inspect('conversation-long');
  },
);
