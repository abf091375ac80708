import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../../test/built-service.ts';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export type InspectedPage = {
  readonly page: Page;
  /** Descriptions of faults: requests to other hosts, violations of the content security policy, and uncaught errors. */
  readonly violations: string[];
};

export async function openPage({ origin }: BuiltService, context: BrowserContext, url: string): Promise<InspectedPage> {
  const page = await context.newPage();
  // Playwright's default timeout of 30 s is too short for a busy machine.
  page.setDefaultTimeout(60_000);
  const violations: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith(`blob:${origin}`))
      violations.push(request.url());
  });
  page.on('pageerror', (error) => violations.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) violations.push(message.text());
  });
  await page.goto(url);
  return { page, violations };
}

/** The directory for screenshots of all inspected pages. Without it, no screenshots are taken. */
const pictures = import.meta.env['BOTHOST_TEST_PICTURES'];

/** Widths of screens in pixels. The last one is that of the page after a check. */
const phoneWidth = 390;
const widths = [phoneWidth, 2_560, 1_440];

/**
 * Checks the current page in both themes: it must not scroll horizontally on a screen of any width, phones must not zoom in to
 * enter text, and axe must find no serious fault in the element that matches the selector `checked`. With BOTHOST_TEST_PICTURES,
 * stores screenshots of the whole page, or only of its visible part.
 */
export async function checkLayoutAndAccessibility(
  page: Page,
  name: string,
  { fullPage = true, checked = 'body' }: { readonly fullPage?: boolean; readonly checked?: string } = {},
): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.waitForFunction((wanted) => document.documentElement.dataset['theme'] === wanted, theme);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      if (pictures !== undefined) await takeScreenshot(page, join(pictures, `${name}-${theme}-${width}.png`), fullPage);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      if (width === phoneWidth) expect([name, await findSmallFields(page)]).toEqual([name, []]);
    }
    await finishTransitions(page);
    expect([name, theme, await findSeriousFaults(page, checked)]).toEqual([name, theme, '[]']);
  }
}

/** Finds the fields that make a browser of a phone zoom in, because their text is smaller than 16 pixels. */
function findSmallFields(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('input:not([type=checkbox], [type=file], [type=range]), select, textarea')]
      .filter((field) => field.checkVisibility() && Number.parseFloat(getComputedStyle(field).fontSize) < 16)
      .map(({ outerHTML }) => outerHTML),
  );
}

/**
 * Waits until no color changes any more, because axe measures the contrast of the moment. Does not wait for what never ends:
 * spinners, and animations that follow the scroll position.
 */
async function finishTransitions(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .filter(({ timeline }) => timeline === document.timeline)
      .every(({ playState, effect }) => playState !== 'running' || effect?.getComputedTiming().endTime === Infinity),
  );
}

async function takeScreenshot(page: Page, path: string, fullPage: boolean): Promise<void> {
  // Chromium cannot take a full screenshot of a very long page.
  const isShort = await page.evaluate(() => document.body.scrollHeight < 15_000);
  await page.screenshot({ path, fullPage: fullPage && isShort, animations: 'disabled' });
}

/** Runs axe through the DevTools protocol, because the page's content security policy does not allow scripts that a test adds. */
async function findSeriousFaults(page: Page, checked: string): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: await readFile(axe, 'utf8') });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(${JSON.stringify(checked)}).then(({ violations }) => JSON.stringify(violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])))`,
    awaitPromise: true,
  });
  await session.detach();
  return String(result.value);
}
