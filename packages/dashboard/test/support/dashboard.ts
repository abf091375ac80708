import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type BuiltService, startBuiltService } from '../../../../test/service.ts';
import { type BotProjectDirectory, writeBot } from '../../../server/test/support/bots.ts';
import { createInvitationLink, signUp } from './accounts.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import type { InspectedPage } from './inspected-page.ts';

const parrot = fileURLToPath(new URL('../../../../examples/parrot', import.meta.url));

type Dashboard = InspectedPage & {
  readonly service: BuiltService;
  readonly browser: Browser;
  readonly context: BrowserContext;
};

type DashboardOptions = {
  /**
   * Directories of the service's agents. If absent, the service has the agent `parrot` and, if `bot` is set, the scripted bot.
   */
  readonly agents?: readonly string[];
  /** A scripted bot that the service runs as an additional agent. */
  readonly bot?: Parameters<typeof writeBot>;
};

/**
 * Before the tests of a file, starts the built service, and signs in as its owner Ada in a new browser. After the tests, stops
 * the browser and the service. Fails if Ada's page sent requests to other hosts, violated its content security policy or had
 * uncaught errors.
 */
export function setUpDashboard(onReady: (dashboard: Dashboard) => void, { agents, bot }: DashboardOptions = {}): void {
  let botDirectory: BotProjectDirectory | undefined;
  let service: BuiltService | undefined;
  let browser: Browser | undefined;
  let violations: readonly string[] = [];
  beforeAll(async () => {
    if (!hasBrowser) return;
    if (bot !== undefined) botDirectory = await writeBot(...bot);
    const directories = agents ?? [parrot, ...(botDirectory === undefined ? [] : [botDirectory.path])];
    service = await startBuiltService({ BOTHOST_AGENTS: directories.join(',') });
    browser = await launchBrowser(null);
    const context = await browser.newContext();
    const opened = await signUp(service, context, await createInvitationLink(service, 'ada@example.com'));
    violations = opened.violations;
    onReady({ service, browser, context, ...opened });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    await botDirectory?.remove();
    expect(violations).toEqual([]);
  });
}
