import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

/** Delays responses for URLs that match `address`, until the returned function is called or the test ends. */
export async function holdResponses(page: Page, address: RegExp): Promise<() => Promise<void>> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(address, async (route) => {
    await released;
    await route.continue();
  });
  const releaseAll = () => {
    release();
    return page.unrouteAll({ behavior: 'wait' });
  };
  onTestFinished(releaseAll);
  return releaseAll;
}
