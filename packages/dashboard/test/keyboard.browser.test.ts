import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { type BuiltService, botcliProgramPath } from '../../../test/built-service.ts';
import { runInTerminal, terminalKeys } from '../../cli/test/run-in-terminal.ts';
import { createVersionedBot } from '../../server/test/support/deploys.ts';
import { createInvitationLink, testPassword } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';
import { openPage } from './support/inspected-page.ts';

/** Tests all steps of a new person in the dashboard with the keyboard alone: the test never clicks, and no script sets the focus. */
let service: BuiltService;
let context: BrowserContext;
let page: Page;
/** Violations of the content security policy. The open page adds to this list. */
let violations: readonly string[] = [];

setUpBrowser(
  async (started) => {
    service = started.service;
    context = await started.browser.newContext();
    const opened = await openPage(service, context, await createInvitationLink(service, 'ada@example.com'));
    ({ page, violations } = opened);
  },
  { hasMicrophone: true },
);
afterAll(() => expect(violations).toEqual([]));

const field = (name: string) => page.getByLabel(new RegExp(`^${name}`));
const button = (name: string) => page.getByRole('button', { name, exact: true });

/** Presses a key until the element has the focus. */
async function moveTo(element: Locator, key: 'Tab' | 'ArrowDown' = 'Tab'): Promise<void> {
  await element.waitFor();
  const isFocused = () => element.evaluate((candidate) => candidate === document.activeElement);
  for (let presses = 0; !(await isFocused()); presses += 1) {
    if (presses === 100) throw new Error(`The key ${key} does not reach ${element}.`);
    await page.keyboard.press(key);
  }
}

async function press(element: Locator): Promise<void> {
  await moveTo(element);
  await page.keyboard.press('Enter');
}

async function chooseInMenu(menu: string, item: string): Promise<void> {
  await press(button(menu));
  await moveTo(page.getByRole('menuitem', { name: item }), 'ArrowDown');
  await page.keyboard.press('Enter');
}

async function enter(name: string, text: string): Promise<void> {
  await moveTo(field(name));
  await page.keyboard.type(text);
}

/** Opens the command palette, types the name of a page, and opens this page with Enter. */
async function goTo(name: string): Promise<void> {
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('combobox').waitFor();
  await page.keyboard.type(name);
  await palette.getByRole('option', { name, exact: true }).first().waitFor();
  await page.keyboard.press('Enter');
  await palette.waitFor({ state: 'detached' });
}

browserTest(
  'a new person creates an account, a key and a secret set, deploys, talks, invites and logs in with the keyboard alone',
  async () => {
    await createAccountAndOrganization();
    await createApiKey();
    await deployFolder();
    await talkAndStopSession();
    await storeSecretSet();
    await inviteMember();
    await approveLogin();
  },
  300_000,
);

async function createAccountAndOrganization(): Promise<void> {
  await enter('Name', 'Ada');
  await enter('Password', testPassword);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.origin}/orgs/home`);
  await chooseInMenu('Organization: home', 'Create an organization');
  await enter('Name', 'flock');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.origin}/orgs/flock`);
}

async function createApiKey(): Promise<void> {
  await goTo('Settings');
  await press(page.getByRole('link', { name: 'API keys' }));
  await press(button('Create key'));
  await enter('Name', 'Reporting');
  await page.keyboard.press('Enter');
  await page.getByText('It is not shown again.').waitFor();
  const key = await page.getByRole('dialog').locator('code').first().textContent();
  await press(button('Done'));
  const response = await fetch(`${service.origin}/v1/agents`, { headers: { authorization: `Bearer ${key}` } });
  expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ agents: [] })]);
}

async function deployFolder(): Promise<void> {
  const directory = join(service.folder, 'echo');
  await mkdir(directory);
  for (const [name, text] of Object.entries(createVersionedBot('one'))) await writeFile(join(directory, name), text);
  page.on('filechooser', (chooser) => chooser.setFiles(directory));
  await goTo('Deploy');
  await press(button('Choose a folder'));
  await press(button('Deploy'));
  await page.getByText('echo serves. New sessions use this version.').waitFor();
}

async function talkAndStopSession(): Promise<void> {
  await chooseInMenu('Organization: flock', 'home');
  await page.waitForURL(`${service.origin}/orgs/home`);
  await goTo('Talk to parrot');
  await press(button('Start talking'));
  await enter('Write to parrot', 'pretty bird');
  await page.keyboard.press('Enter');
  await page.getByRole('log', { name: 'Transcript' }).getByText('Rraawk! pretty bird').waitFor();

  const conversation = page;
  page = await context.newPage();
  await page.goto(`${service.origin}/orgs/home/sessions`);
  await press(page.getByRole('table', { name: 'Sessions' }).getByRole('link').first());
  await page.getByRole('heading', { name: 'Session of parrot' }).waitFor();
  await press(button('Stop'));
  await press(button('Stop session'));
  await page.getByText('SESSION_STOPPED').first().waitFor();
  await page.close();
  page = conversation;
  await page.getByText('The session has ended.').waitFor();
}

async function storeSecretSet(): Promise<void> {
  await goTo('Secrets');
  await press(button('Create set'));
  await page.keyboard.type('echo-secrets');
  await page.keyboard.press('Tab');
  await page.keyboard.type('GREETING');
  await page.keyboard.press('Tab');
  await page.keyboard.type('ahoy');
  await press(button('Store'));
  await page.waitForURL(`${service.origin}/orgs/home/secrets/echo-secrets`);
}

async function inviteMember(): Promise<void> {
  await goTo('Settings');
  await press(page.getByRole('link', { name: 'Members' }));
  await press(button('Invite'));
  await enter('E-mail', 'grace@example.com');
  await page.keyboard.press('Enter');
  await page.getByText('grace@example.com joins as member.').waitFor();
  await press(button('Done'));
}

async function approveLogin(): Promise<void> {
  const home = join(service.folder, 'cli-home');
  await mkdir(home);
  const terminal = runInTerminal(`${execPath} ${botcliProgramPath} cloud auth login --api-url ${service.origin}`, home);
  await terminal.shows('Waiting for the approval');
  const code = /approve the code (\w{4}-\w{4})/.exec(terminal.screen())?.[1] ?? '';
  await page.goto(`${service.origin}/device`);
  await enter('Code', code);
  await page.keyboard.press('Enter');
  await press(button('Approve'));
  await page.getByText('The device is logged in').waitFor();
  await terminal.shows('Organization');
  terminal.press(terminalKeys.enter);
  expect((await terminal.ended).status).toBe(0);
}
