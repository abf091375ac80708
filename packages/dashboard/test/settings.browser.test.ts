import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { createInvitationLink, signUp, testPassword } from './support/accounts.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility, openPage } from './support/inspected-page.ts';
import { createOrganization } from './support/organization.ts';

/** Tests the pages of the settings in a real browser, with the built service. */
let service: BuiltService;
let browser: Browser;
let page: Page;
setUpDashboard((dashboard) => {
  ({ service, browser, page } = dashboard);
});

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const open = (path: string) => page.goto(service.origin + path);
const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });
const shownValue = async () => (await dialog().locator('code').first().textContent()) ?? '';
async function call(path: string, key: string, body?: object) {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${service.origin}/v1/${path}`, {
    headers: { authorization: `Bearer ${key}` },
    ...init,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

browserTest('a private API key from the settings can read a session until the key is revoked', async () => {
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('list', { name: 'Active private keys' }).waitFor();
  await inspect('settings-keys');
  await button('Create key').click();
  await dialog().getByLabel('Name').fill('Reporting');
  await dialog().getByText('Do this with botcli').click();
  await dialog().getByText('botcli cloud keys create Reporting --kind private --expires 90d').waitFor();
  await inspect('settings-key-create');
  await button('Create private key').click();
  await dialog().getByText('It is not shown again.').waitFor();
  const key = await shownValue();
  await inspect('settings-key-created');
  await button('Done').click();
  const row = page.getByRole('listitem').filter({ hasText: 'Reporting' });
  await row.getByText(/Expires in \d+ months/).waitFor();
  await row.getByText('Never used').waitFor();

  const { sessionId } = (await call('public/parrot/start', service.publicKey, {})).body;
  const session = await call(`agents/parrot/sessions/${sessionId}`, key);
  expect(session).toMatchObject({ status: 200, body: { sessionId, completionStatus: null } });

  await button('Revoke Reporting').click();
  await inspect('settings-key-revoke');
  await button('Revoke key').click();
  await page.getByText('The key Reporting is revoked.').waitFor();
  await page.getByText('Expired and revoked keys (1)').waitFor();
  expect((await call(`agents/parrot/sessions/${sessionId}`, key)).status).toBe(401);
});

browserTest('a public key can be created with the keyboard alone, and starts a session', async () => {
  await open('/orgs/home/settings/keys?kind=public');
  await button('Create key').focus();
  await page.keyboard.press('Enter');
  await dialog().waitFor();
  await page.keyboard.type('Website');
  await page.keyboard.press('Enter');
  await dialog().getByText('It is not shown again.').waitFor();
  expect(await call('public/parrot/start', await shownValue(), {})).toMatchObject({ status: 200 });
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Create key');
  await inspect('settings-keys-public');
});

browserTest('an owner invites a person, changes the role of the new member, and removes the member', async () => {
  await open('/orgs/home/settings/members');
  await page.getByText('No open invitations').waitFor();
  await button('Invite').click();
  await dialog().getByLabel('E-mail').fill('grace@example.com');
  await inspect('settings-invite');
  await button('Create link').click();
  await dialog().getByText('grace@example.com joins as member.').waitFor();
  const link = await shownValue();
  await inspect('settings-invited');
  await button('Done').click();
  await page.getByRole('list', { name: 'Open invitations' }).getByText('grace@example.com').waitFor();

  const guest = await browser.newContext();
  const joined = await signUp(service, guest, link);
  await page.reload();
  await page.getByText('No open invitations').waitFor();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'grace@example.com' })
    .getByRole('combobox')
    .selectOption('viewer');
  await page.getByText('Ada is now viewer.').waitFor();
  await inspect('settings-members');

  await joined.page.goto(`${service.origin}/orgs/home/settings/keys`);
  await joined.page.getByText('Only owners see and create API keys').waitFor();
  await checkLayoutAndAccessibility(joined.page, 'settings-keys-viewer');
  expect(await joined.page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
  await joined.page.goto(`${service.origin}/orgs/home/settings/members`);
  await joined.page.getByText('grace@example.com').waitFor();
  expect(await joined.page.getByRole('button', { name: /Remove|Invite/ }).count()).toBe(0);

  await page.getByRole('listitem').filter({ hasText: 'grace@example.com' }).getByRole('button').click();
  await button('Remove member').click();
  await page.getByText('Ada is removed.').waitFor();
  await joined.page.reload();
  await joined.page.getByText('Organization not found').waitFor();
  await checkLayoutAndAccessibility(joined.page, 'organization-not-found');
  expect(joined.violations).toEqual([]);
  await guest.close();
});

browserTest('the last owner cannot choose another role, and the page says why', async () => {
  const { url } = await createOrganization(service, page, 'owned');
  await page.goto(`${url}/settings/members`);
  await page.getByRole('combobox', { name: 'Role of Ada' }).selectOption('viewer');
  await page.getByRole('alert').waitFor();
  await inspect('settings-members-refused');
  expect(await page.getByRole('combobox', { name: 'Role of Ada' }).inputValue()).toBe('owner');
});

browserTest('an organization can be renamed, and can be deleted after its name is entered', async () => {
  await open('/orgs');
  await page.getByLabel('Name').fill('second');
  await button('Create organization').click();
  await page.waitForURL(`${service.origin}/orgs/second`);
  await open('/orgs/second/settings');
  await page.waitForURL(`${service.origin}/orgs/second/settings/general`);
  await page.getByLabel('Display name').fill('Second Nest');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('second-nest');
  await button('Save').first().click();
  await page.waitForURL(`${service.origin}/orgs/second-nest/settings/general`);
  await button('Organization: Second Nest').waitFor();
  await inspect('settings-general');
  await button('Delete').click();
  await inspect('settings-delete');
  expect(await button('Delete organization').isDisabled()).toBe(true);
  await dialog().getByLabel('Enter second-nest to confirm').fill('second-nest');
  await button('Delete organization').click();
  await page.waitForURL(`${service.origin}/orgs`);
  await page.getByText('Second Nest is deleted.').waitFor();
  expect(await page.getByRole('link', { name: 'Second Nest' }).count()).toBe(0);
});

browserTest('a personal token acts as the person until it is revoked', async () => {
  await open('/settings/tokens');
  await page.getByText('You have no personal tokens').waitFor();
  await inspect('settings-tokens-empty');
  await button('Create token').click();
  await dialog().getByLabel('Name').fill('Laptop');
  await button('Create personal token').click();
  await dialog().getByText('It is not shown again.').waitFor();
  const token = await shownValue();
  expect(await call('user', token)).toMatchObject({ status: 200, body: { email: 'ada@example.com' } });
  await button('Done').click();
  await page.getByText('Laptop').waitFor();
  await inspect('settings-tokens');
  await button('Revoke Laptop').click();
  await button('Revoke token').click();
  await page.getByText('The token Laptop is revoked.').waitFor();
  expect((await call('user', token)).status).toBe(401);
});

browserTest('the audit log page keeps its filter in the URL, and verifies the audit log', async () => {
  const { url, botcli } = await createOrganization(service, page, 'audited');
  await botcli('keys', 'create', 'Reporting', '--kind', 'private');
  await page.goto(`${url}/settings/audit`);
  await page.getByLabel('Action').selectOption('keys.create');
  await page.waitForURL(/action=keys\.create/);
  const list = page.getByRole('list', { name: 'Audit log' });
  await list.getByText('Reporting').waitFor();
  await page.getByLabel('Object').fill('nothing');
  await page.keyboard.press('Enter');
  await page.getByText('No entry matches.').waitFor();
  await page.getByLabel('Object').fill('');
  await page.keyboard.press('Enter');
  await list.getByText('Reporting').waitFor();
  await page.reload();
  await list.getByText('Reporting').waitFor();
  expect(await page.getByLabel('Action').inputValue()).toBe('keys.create');
  expect(await list.getByText('keys.list').count()).toBe(0);
  await button('Verify the log').click();
  await page.getByText(/\d+ entries verified\./).waitFor();
  await inspect('settings-audit');
});

browserTest('a person changes name, e-mail and password, and the new password ends other sessions', async () => {
  const invitation = await createInvitationLink(service, 'changing@example.com');
  const { page: account } = await signUp(service, await browser.newContext(), invitation);
  const elsewhere = await openPage(service, await browser.newContext(), `${service.origin}/sign-in`);
  await elsewhere.page.getByLabel('E-mail').fill('changing@example.com');
  await elsewhere.page.getByLabel('Password').fill(testPassword);
  await elsewhere.page.keyboard.press('Enter');
  await elsewhere.page.waitForURL(`${service.origin}/orgs/home`);
  await account.goto(`${service.origin}/settings/account`);
  await account.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada Lovelace');
  await account.getByRole('button', { name: 'Save' }).click();
  await account.getByText('Your name is changed.').waitFor();
  await account.getByRole('textbox', { name: 'E-mail' }).fill('lovelace@example.com');
  await account.getByLabel('Current password, to confirm').fill('wrong');
  await account.getByRole('button', { name: 'Change e-mail' }).click();
  await account.getByRole('alert').waitFor();
  await checkLayoutAndAccessibility(account, 'settings-account');
  await account.getByLabel('Current password, to confirm').fill(testPassword);
  await account.getByRole('button', { name: 'Change e-mail' }).click();
  await account.getByText('Your e-mail address is lovelace@example.com.').waitFor();
  await account.getByLabel('Current password', { exact: true }).fill(testPassword);
  await account.getByLabel('New password').fill('two parrots on a shoulder');
  await account.getByRole('button', { name: 'Change password' }).click();
  await account.getByText('Your password is changed.').waitFor();
  await elsewhere.page.reload();
  await elsewhere.page.waitForURL(/\/sign-in\?redirect=%2Forgs%2Fhome/);
});

browserTest('signing out everywhere signs out all tabs', async () => {
  const leaving = await browser.newContext();
  const { page: account } = await signUp(service, leaving, await createInvitationLink(service, 'leaving@example.com'));
  const other = await openPage(service, leaving, `${service.origin}/orgs/home/talk`);
  await other.page.getByRole('link', { name: 'Talk to parrot' }).waitFor();
  await checkLayoutAndAccessibility(other.page, 'talk-agents');
  await account.goto(`${service.origin}/settings/account`);
  await account.getByRole('button', { name: 'Sign out everywhere' }).click();
  await account.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await account.waitForURL(/\/sign-in/);
  await other.page.waitForURL(/\/sign-in/);
});
