import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { browserTest, hasBrowser } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';
import { createOrganization } from './support/organization.ts';

/** Tests the pages of secrets in a real browser, with the built service. No response to the pages may contain a secret value. */
const values = ['first-value-0451', 'second-value-0452', 'registry-password-0453'];

let service: BuiltService;
let page: Page;
let received = '';
setUpDashboard((dashboard) => {
  ({ service, page } = dashboard);
  page.on('response', async (response) => {
    if (response.url().includes('/secrets')) received += await response.text().catch(() => '');
  });
});

afterAll(() => {
  if (!hasBrowser) return;
  expect(received).toContain('echo-secrets');
  expect(values.filter((value) => received.includes(value) || received.includes(btoa(`ada:${value}`)))).toEqual([]);
});

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const dialog = () => page.getByRole('dialog');
const button = (name: string) => page.getByRole('button', { name, exact: true });
const removeButtons = () => page.getByRole('button', { name: /^Remove / });
const keys = () => page.getByRole('list', { name: 'Keys' }).getByRole('listitem');

browserTest(
  'a secret set can be created with the keyboard, and its keys can be added, replaced and removed',
  async () => {
    const { url } = await createOrganization(service, page, 'keys');
    await page.goto(`${url}/secrets`);
    await page.getByText('No secret sets').waitFor();
    await inspect('secrets-empty');
    await button('Create set').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('echo-secrets');
    await page.keyboard.press('Tab');
    await page.keyboard.type('OPENAI_API_KEY');
    await page.keyboard.press('Tab');
    await page.keyboard.type(values[0] ?? '');
    await inspect('secret-create');
    await button('Store').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/secrets/echo-secrets`);
    await keys().getByText('OPENAI_API_KEY').waitFor();

    await button('Add key').click();
    await dialog().getByLabel('Key', { exact: true }).fill('PATH');
    await dialog().getByText('PATH is reserved').waitFor();
    expect(await button('Store').isDisabled()).toBe(true);
    await dialog().getByLabel('Key', { exact: true }).fill('GREETING');
    await dialog().getByLabel('Value').fill('two\nlines');
    await button('Store').click();
    await keys().getByText('GREETING').waitFor();

    await button('Replace OPENAI_API_KEY').click();
    await dialog()
      .getByLabel('Value')
      .fill(values[1] ?? '');
    await button('Store').click();
    await keys().filter({ hasText: 'OPENAI_API_KEY' }).getByText('Revision 3').waitFor();
    await button('Remove GREETING').click();
    await button('Remove key').click();
    await expect.poll(() => removeButtons().count()).toBe(1);
    await page.getByText('Secret set in us-west, revision 4.').waitFor();
    await inspect('secret-set');
  },
);

browserTest(
  'a secret set takes the keys of a pasted or dropped .env file, and names the lines that are refused',
  async () => {
    const { url, botcli } = await createOrganization(service, page, 'imported');
    await botcli('secrets', 'set', 'echo-secrets', 'GREETING=hello', '--skip', '--wait');
    await page.goto(`${url}/secrets/echo-secrets`);
    await button('Import .env').click();
    await dialog().getByLabel('Lines KEY=value').fill('OPENAI_API_KEY\nPORT=1');
    await dialog().getByText('Line 1: this line is not KEY=value, a comment or blank').waitFor();
    await dialog().getByText('Line 2: ').waitFor();
    expect(await button('Store 1 key').isDisabled()).toBe(true);
    await dialog()
      .getByLabel('File')
      .setInputFiles({
        name: '.env',
        mimeType: 'text/plain',
        buffer: Buffer.from(`export OPENAI_API_KEY="${values[0]}"\nGREETING=good morning\nEMPTY=\n`),
      });
    await dialog().getByText('EMPTY is empty and left out.').waitFor();
    await inspect('secret-import');
    await button('Store 2 keys').click();
    await page.getByText('2 keys are stored.').waitFor();
    await expect.poll(() => removeButtons().count()).toBe(2);
    await keys().filter({ hasText: 'GREETING' }).getByText('Revision 2').waitFor();
  },
);

browserTest('a secret set can be created from a .env file', async () => {
  const { url, botcli } = await createOrganization(service, page, 'created');
  await botcli('secrets', 'set', 'taken', 'GREETING=hello', '--skip', '--wait');
  await page.goto(`${url}/secrets`);
  await button('Import .env').click();
  await dialog().getByLabel('Lines KEY=value').fill(`OPENAI_API_KEY=${values[0]}\nGREETING=good morning`);
  await dialog().getByLabel('Name of the set').fill('taken');
  await button('Store 2 keys').click();
  await dialog().getByRole('alert').getByText('The secret set exists already').waitFor();
  await dialog().getByLabel('Name of the set').fill('echo-secrets');
  await inspect('secret-set-import');
  await button('Store 2 keys').click();
  await page.waitForURL(`${url}/secrets/echo-secrets`);
  await expect.poll(() => removeButtons().count()).toBe(2);
});

browserTest('a rollback of a secret set first lists the changed keys, and restores an earlier revision', async () => {
  const { url, botcli } = await createOrganization(service, page, 'rollback');
  await botcli('secrets', 'set', 'echo-secrets', `OPENAI_API_KEY=${values[0]}`, '--skip', '--wait');
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=hello', '--skip', '--wait');
  await botcli('secrets', 'set', 'echo-secrets', `OPENAI_API_KEY=${values[1]}`, '--skip', '--wait');
  await botcli('secrets', 'unset', 'echo-secrets', 'GREETING', '--skip');
  await page.goto(`${url}/secrets/echo-secrets`);
  await button('Roll back to revision 2').click();
  const changes = dialog().getByRole('list', { name: 'Changes' });
  await expect
    .poll(() => changes.getByRole('listitem').allTextContents())
    .toEqual(expect.arrayContaining(['GREETINGAdded', 'OPENAI_API_KEYChanged']));
  await inspect('secret-rollback');
  await button('Roll back').click();
  await page.getByText('Rollback to revision 2').waitFor();
  await expect.poll(() => removeButtons().count()).toBe(2);
});

browserTest('a secret set lists the agents that use it, and marks them as stale after a change', async () => {
  const { url, botcli, deployEcho } = await createOrganization(service, page, 'stale');
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=hello', '--skip', '--wait');
  await deployEcho('one');
  await page.goto(`${url}/agents/echo/settings`);
  await page.getByLabel('Secret set').selectOption('echo-secrets');
  await button('Save').click();
  await page.getByText('A deployment with the new settings has started.').waitFor();
  await page.goto(`${url}/secrets/echo-secrets`);
  await page.getByRole('list', { name: 'Agents' }).getByText('echo').waitFor();
  await button('Remove GREETING').click();
  await button('Remove key').click();
  await page.getByRole('list', { name: 'Agents' }).getByText('Stale').waitFor();
  await inspect('secret-set-stale');
});

browserTest('an image pull secret is created, verified, replaced and deleted', async () => {
  const { url } = await createOrganization(service, page, 'registry');
  await page.goto(`${url}/secrets`);
  await button('Create pull secret').click();
  await dialog().getByLabel('Name', { exact: true }).fill('hub');
  await dialog().getByLabel('Registry').fill('127.0.0.1:5000');
  await dialog().getByLabel('User name').fill('a:da');
  await dialog().getByText('A user name cannot contain a colon.').waitFor();
  await dialog().getByLabel('User name').fill('ada');
  await dialog()
    .getByLabel('Password or token')
    .fill(values[2] ?? '');
  await inspect('pull-secret-create');
  await button('Store').click();
  const row = page.getByRole('list', { name: 'Image pull secrets' }).getByRole('listitem');
  await row.getByText('127.0.0.1:5000').waitFor();
  await button('Verify hub').click();
  await row
    .getByText(/Rejected|Registry unreachable|Not checked/)
    .first()
    .waitFor();
  await inspect('secrets');
  await button('Replace hub').click();
  await dialog().getByLabel('User name').fill('grace');
  await dialog().getByLabel('Password or token').fill('another-password');
  await button('Store').click();
  await page.getByText('The credentials hub are stored.').waitFor();
  await button('Delete hub').click();
  await dialog().getByLabel('Enter hub to confirm').fill('hub');
  await page.keyboard.press('Enter');
  await page.getByText('No image pull secrets').waitFor();
});

browserTest('a secret set in use is deleted after its name is entered', async () => {
  const { url, botcli, deployEcho } = await createOrganization(service, page, 'deleting');
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=hello', '--skip', '--wait');
  await deployEcho('one', '', '--secrets', 'echo-secrets');
  await page.goto(`${url}/secrets`);
  await page.getByRole('link', { name: 'echo-secrets' }).click();
  await button('Delete').click();
  await dialog().getByText('echo uses it').waitFor();
  await inspect('secret-set-delete');
  await dialog().getByLabel('Enter echo-secrets to confirm').fill('echo-secrets');
  await page.keyboard.press('Enter');
  await page.getByText('No secret sets').waitFor();
  await page.goto(`${url}/secrets/echo-secrets`);
  await page.getByText('No secret set is named echo-secrets').waitFor();
});
