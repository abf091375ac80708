import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { browserTest } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';
import { checkLayoutAndAccessibility, openPage } from './support/inspected-page.ts';

/** Tests the API reference in a real browser, with the built service. */
let service: BuiltService;
let browser: Browser;

setUpBrowser((started) => {
  ({ service, browser } = started);
});

browserTest(
  'a person finds an operation in the API reference and calls it',
  async () => {
    const { page, violations } = await openPage(service, await browser.newContext(), `${service.origin}/docs`);
    await page.getByRole('textbox', { name: 'Token' }).waitFor();
    await page.getByRole('heading', { name: 'bothost API' }).waitFor();
    await checkLayoutAndAccessibility(page, 'reference', { fullPage: false });
    await page.getByRole('textbox', { name: 'Token' }).fill(service.privateKey);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('list the agents');
    const found = page.getByRole('option', { name: 'List the agents of the organization' }).first();
    await found.waitFor();
    await found.click();
    await page.waitForURL(/#tag\/agents\/GET\/v1\/agents$/);
    const tryIt = page.getByRole('button', { name: 'Test Request (get /v1/agents)', exact: true });
    await tryIt.waitFor();
    await tryIt.click();
    const client = page.getByRole('dialog', { name: 'API Client' });
    await client.getByRole('button', { name: /^Send get request/ }).click();
    await client.getByText('200 OK').waitFor();
    await client.getByText('"parrot"').first().waitFor();
    await checkLayoutAndAccessibility(page, 'reference-request', {
      fullPage: false,
      checked: '[role=dialog]',
    });
    expect(violations).toEqual([]);
    await page.close();
  },
  300_000,
);

browserTest('the API reference lists its operations before its library and the OpenAPI document arrive', async () => {
  const page = await browser.newPage();
  const never = () => new Promise<void>(() => undefined);
  await page.route('**/assets/show-api-reference*.js', never);
  await page.route('**/docs/openapi.json', never);
  await page.goto(`${service.origin}/docs`, { waitUntil: 'commit' });
  await page.getByRole('link', { name: 'List the agents of the organization' }).first().waitFor();
  await page.close();
});
