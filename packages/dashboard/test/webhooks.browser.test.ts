import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';
import { createOrganization } from './support/organization.ts';

/** Tests the pages of webhooks and alerts in a real browser, with the built service. */
let service: BuiltService;
let page: Page;
setUpDashboard((dashboard) => {
  ({ service, page } = dashboard);
});

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const dialog = () => page.getByRole('dialog');
const event = (name: string) => dialog().getByRole('checkbox', { name: new RegExp(`^${name} `) });
const button = (name: string) => page.getByRole('button', { name, exact: true });

browserTest('a webhook shows its secret once, what was delivered, and why not, and sends it again', async () => {
  const { url } = await createOrganization(service, page, 'hooks');
  await page.goto(`${url}/settings/webhooks`);
  await page.getByText('No webhooks').waitFor();
  await button('Create webhook').click();
  await dialog().getByLabel('URL').fill('https://hooks.invalid/secret-path');
  await event('session.ended').check();
  await dialog().getByLabel('Description (optional)').fill('Pager');
  await inspect('webhook-create');
  await button('Create').click();
  await dialog().getByText('It is not shown again.').waitFor();
  expect(await dialog().locator('code').first().textContent()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  await button('Done').click();
  await page.getByText('session.ended, session.failed, deployment.failed').waitFor();
  await inspect('webhooks');

  await page.getByRole('link', { name: 'https://hooks.invalid/secret-path' }).click();
  await page.getByText('No deliveries').waitFor();
  await button('Send test event').click();
  const delivery = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').first();
  await delivery.getByText('The host name does not exist.').waitFor({ timeout: 20_000 });
  await delivery.getByText('Request and response').click();
  await delivery.getByText('"event_type": "webhook.test"').waitFor();
  await inspect('webhook');
  // The notice is shown for six seconds, which may pass on a busy machine before the click returns.
  await Promise.all([
    page.getByText('The event is being sent again.').waitFor(),
    delivery.getByRole('button', { name: 'Send again' }).click(),
  ]);

  await button('Edit').click();
  await event('session.ended').uncheck();
  await button('Save').click();
  await page.getByText('session.failed, deployment.failed').waitFor();
  await button('Disable').click();
  await page.getByText('Disabled', { exact: true }).waitFor();
  expect(await button('Send test event').isDisabled()).toBe(true);
  await button('Delete webhook').click();
  await button('Delete').click();
  await page.getByText('No webhooks').waitFor();
});

browserTest('an alert shows its rule, and can be deleted', async () => {
  await page.goto(`${service.origin}/orgs/home/settings/alerts`);
  await page.getByText('No alerts').waitFor();
  await button('Create alert').click();
  await dialog().getByLabel('What to watch').selectOption('response_time');
  await dialog().getByLabel('Threshold, in ms').fill('900');
  await inspect('alert-create');
  await button('Create').click();
  await page.getByText('At least 900 ms in 15 min').waitFor();
  await page.getByText('OK', { exact: true }).waitFor();
  await inspect('alerts');
  await page.getByRole('button', { name: 'Delete the alert of parrot' }).click();
  await button('Delete').click();
  await page.getByText('No alerts').waitFor();
});
