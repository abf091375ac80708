import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { browserTest } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';
import { checkLayoutAndAccessibility, openPage } from './support/inspected-page.ts';

/** Tests the documents at `/help` in a real browser, with the built service. No person is signed in. */
let service: BuiltService;
let browser: Browser;

setUpBrowser((started) => {
  ({ service, browser } = started);
});

browserTest(
  'a person without an account searches the help with the keyboard, and follows links and anchors',
  async () => {
    const { page, violations } = await openPage(service, await browser.newContext(), `${service.origin}/help`);
    await page.getByRole('heading', { name: 'Help', level: 1 }).waitFor();
    await checkLayoutAndAccessibility(page, 'help', { fullPage: false });

    await page.keyboard.press('/');
    await page.keyboard.type('rollback');
    const results = page.getByRole('region', { name: 'Search results' });
    await results.getByText(/^\d+ sections match\.$/).waitFor();
    await checkLayoutAndAccessibility(page, 'help-search', { fullPage: false });
    await results.getByRole('link', { name: /^A rollback/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    expect(
      await results
        .getByRole('link')
        .first()
        .evaluate((link) => link === document.activeElement),
    ).toBe(true);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/help\/deploy#a-rollback$/);
    await page.getByRole('heading', { name: 'A rollback' }).waitFor();
    await expect
      .poll(() =>
        page.getByRole('heading', { name: 'A rollback' }).evaluate((heading) => {
          const { top } = heading.getBoundingClientRect();
          return top >= 0 && top < 200;
        }),
      )
      .toBe(true);
    await checkLayoutAndAccessibility(page, 'help-document', { fullPage: false });

    await page.goto(`${service.origin}/help?q=nothing-has-this-name-xyzzy`);
    await results.getByText('Nothing matches “nothing-has-this-name-xyzzy”.').waitFor();
    await page.keyboard.press('Escape');
    await results.waitFor({ state: 'hidden' });

    await page.goto(`${service.origin}/help/readme`);
    const picture = page.getByRole('img', { name: /^The page of a session/ });
    await picture.scrollIntoViewIfNeeded();
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(100);
    await page.getByRole('link', { name: 'Isolation and limits' }).first().click();
    await page.waitForURL(/\/help\/operations\/isolation$/);
    expect(violations).toEqual([]);

    const missing = await page.goto(`${service.origin}/help/missing`);
    expect(missing?.status()).toBe(404);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();

    await page.goto(`${service.origin}/sign-in`);
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Help for this page (opens in a new tab)' }).click();
    await (await opened).waitForURL(/\/help\/accounts#passwords-and-sessions$/);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await page.context().close();
  },
);

browserTest('the help and the API reference are found with a slash at the end of the address', async () => {
  for (const path of ['/help/', '/help/deploy/', '/docs/'])
    expect((await fetch(service.origin + path)).status).toBe(200);
});
