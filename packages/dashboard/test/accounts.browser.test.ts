import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type BuiltService, botcliProgramPath } from '../../../test/built-service.ts';
import { runInTerminal } from '../../cli/test/run-in-terminal.ts';
import { signUp as createAccount, createInvitationLink as createInvitation, testPassword } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';
import { checkLayoutAndAccessibility as inspect, openPage as openInspectedPage } from './support/inspected-page.ts';

/** Tests the pages for accounts in a real browser, with the built service and the built botcli. */
let service: BuiltService;
let browser: Browser;

setUpBrowser(
  (started) => {
    ({ service, browser } = started);
  },
  { agents: [] },
);

const openPage = (context: BrowserContext, url: string) => openInspectedPage(service, context, url);
const invite = (...words: string[]) => createInvitation(service, ...words);

/** Creates an account with a new address, so that a test can be retried. */
async function signUp(context: BrowserContext) {
  const email = `${randomUUID()}@example.com`;
  return { email, ...(await createAccount(service, context, await invite(email))) };
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(testPassword);
  await page.keyboard.press('Enter');
}

browserTest(
  'a one-time link creates an account and an organization, and its token is removed from the URL',
  async () => {
    const context = await browser.newContext();
    const { page, violations } = await openPage(context, await invite());
    await page.getByText('You are invited to the organization home as owner.').waitFor();
    expect(page.url()).toBe(`${service.origin}/join`);
    await inspect(page, 'join');
    await page.getByLabel('Name').fill('Grace');
    await page.getByLabel('E-mail').fill('grace@example.com');
    await page.getByLabel('Password').fill('password1234');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('alert').getByText('This password is easy to guess').waitFor();
    await inspect(page, 'join-refused');
    await page.getByLabel('Password').fill(testPassword);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.origin}/orgs/home`);
    await page.getByText('Deploy your first bot').waitFor();
    await inspect(page, 'overview-empty');
    await page.getByRole('link', { name: 'Talk', exact: true }).click();
    await page.getByText('No agents yet').waitFor();
    await inspect(page, 'talk-agents-empty');
    await page.getByRole('button', { name: 'Organization: home' }).click();
    await inspect(page, 'organization-switcher');
    await page.getByRole('menuitem', { name: 'Create an organization' }).click();
    await page.getByLabel('Name').fill('second');
    await inspect(page, 'organizations');
    await page.getByRole('button', { name: 'Create organization' }).click();
    await page.waitForURL(`${service.origin}/orgs/second`);
    await page.goto(`${service.origin}/`);
    await page.waitForURL(`${service.origin}/orgs/second`);
    expect(violations).toEqual([]);
    await context.close();
  },
);

browserTest('a signed-in person joins another organization with a link', async () => {
  const context = await browser.newContext();
  const { page, email } = await signUp(context);
  // The page repeats a failed request once by itself.
  await page.route('**/v1/user', (route) => route.abort(), { times: 2 });
  await page.goto(await invite('--role', 'viewer'));
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('button', { name: `Join as ${email}` }).click();
  await page.waitForURL(`${service.origin}/orgs/home`);
  await page.goto(`${service.origin}/join#used`);
  await page.getByText('The link is wrong, expired or already used.').waitFor();
  await inspect(page, 'link-invalid');
  await context.close();
});

browserTest('a signed-out person who opens the login page of botcli signs in, and approves the login', async () => {
  const context = await browser.newContext();
  const { page, violations, email } = await signUp(context);
  const home = await mkdtemp(join(service.folder, 'cli-home-'));
  const terminal = runInTerminal(`${execPath} ${botcliProgramPath} cloud auth login --api-url ${service.origin}`, home);
  await terminal.shows('approve the code ');
  await terminal.shows('Waiting for the approval');
  const code = /approve the code (\w{4}-\w{4})/.exec(terminal.screen())?.[1] ?? '';

  // Clear the cookies, as if the session had expired. After sign-in, the browser must return to the page with the login code.
  await context.clearCookies();
  await page.goto(`${service.origin}/device?code=${code}`);
  await page.waitForURL(/\/sign-in/);
  await inspect(page, 'sign-in');
  await signIn(page, email);
  await page.waitForURL(`${service.origin}/device?code=${code}`);
  await page.getByText('127.0.0.1').waitFor();
  await inspect(page, 'device');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('The device is logged in').waitFor();
  await inspect(page, 'device-approved');
  const { status, shown } = await terminal.ended;
  expect({ status, shown }).toEqual({ status: 0, shown: expect.stringContaining('Organization') });
  expect(await readFile(join(home, '.config/botcli/config.toml'), 'utf8')).toMatch(/private_key = "pcc_pat_/);

  await page.goto(`${service.origin}/device`);
  await inspect(page, 'device-code');
  await page.getByLabel('Code').fill('WRNG-CODE');
  await page.keyboard.press('Enter');
  await page.getByText('This code is wrong, expired or already used.').waitFor();
  expect(violations).toEqual([]);
  await context.close();
});

browserTest("a person approves a login of Pipecat Cloud's CLI, and the browser sends the code to the CLI", async () => {
  const context = await browser.newContext();
  const { page, violations } = await signUp(context);
  const callback = 'http://127.0.0.1:8400/oauth_callback';
  await page.route(`${callback}**`, (route) => route.fulfill({ body: 'You can close this tab' }));
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: 'pipecat-cli',
    redirect_uri: callback,
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
    state: 'x-y_z',
  });
  await page.goto(`${service.origin}/authorize?${parameters}`);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await inspect(page, 'authorize');
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('You can close this tab').waitFor();
  expect(page.url()).toMatch(/\?state=x-y_z&code=[\w-]{43}$/);
  expect(violations).toEqual([page.url()]);

  parameters.set('redirect_uri', 'https://evil.example/');
  await page.goto(`${service.origin}/authorize?${parameters}`);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('alert').getByText('redirect_uri').waitFor();
  await context.close();
});

browserTest('a page redirects to sign-in when the session expires, and sign-in returns to the page', async () => {
  const context = await browser.newContext();
  const { page, violations, email } = await signUp(context);
  const address = `${service.origin}/orgs/home/sessions?status=failed&since=1h`;
  await page.goto(address);
  await page.getByLabel('Status').waitFor();
  // Clear the cookies, so that the next poll of the list is sent without a session.
  await context.clearCookies();
  await page.waitForURL(/\/sign-in\?redirect=/);
  await signIn(page, email);
  await page.waitForURL(address);
  await expect.poll(() => page.getByLabel('Status').inputValue()).toBe('failed');
  expect(violations).toEqual([]);
  await context.close();
});

browserTest('signing out in one tab signs out the other tab', async () => {
  const context = await browser.newContext();
  const { page: first } = await signUp(context);
  const { page: second } = await openPage(context, `${service.origin}/device`);
  await second.getByLabel('Code').waitFor();
  await first.getByRole('button', { name: 'Account' }).click();
  await inspect(first, 'account-menu');
  await first.getByRole('menuitem', { name: 'Sign out' }).click();
  await first.waitForURL(/\/sign-in\?redirect=/);
  await second.waitForURL(/\/sign-in\?redirect=/);
  await context.close();
});

browserTest('a person sets a new password with a one-time link from the operator', async () => {
  const context = await browser.newContext();
  const { email } = await signUp(context);
  const { page } = await openPage(await browser.newContext(), await invite('--reset', email));
  await page.getByText(email).waitFor();
  await inspect(page, 'reset-password');
  await page.getByLabel('Password').fill('another parrot');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.origin}/orgs/home`);
  await page.context().close();
  await context.close();
});

test('the scripts and styles of the first page load are at most 250 kB when compressed with gzip', async () => {
  const dist = fileURLToPath(new URL('../dist/', import.meta.url));
  const html = await readFile(join(dist, 'index.html'), 'utf8');
  const names = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = '']) => name);
  const files = await Promise.all([...names.map((name) => readFile(join(dist, name)))]);
  expect(names.length).toBeLessThan((await readdir(join(dist, 'assets'))).length);
  expect(files.reduce((sum, file) => sum + gzipSync(file).length, 0)).toBeLessThan(250_000);
});
