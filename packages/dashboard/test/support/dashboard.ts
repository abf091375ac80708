import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { type BuiltService, startBuiltService } from '../../../../test/built-service.ts';
import { type BotProjectDirectory, writeBot } from '../../../server/test/support/bots.ts';
import { createInvitationLink, signUp } from './accounts.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import type { InspectedPage } from './inspected-page.ts';

const parrot = fileURLToPath(new URL('../../../../examples/parrot', import.meta.url));

type StartedService = { readonly service: BuiltService; readonly browser: Browser };
type Dashboard = InspectedPage & StartedService & { readonly context: BrowserContext };

type ServiceOptions = {
  /** Directories of the service's agents. If absent, the service has the agent `parrot`. */
  readonly agents?: readonly string[];
  /** Scripted bots that the service runs as additional agents. */
  readonly bots?: readonly Parameters<typeof writeBot>[];
  readonly hasMicrophone?: boolean;
};

/** Before the tests of a file, starts the built service and a browser. Stops both after the tests. */
export function setUpBrowser(
  onReady: (started: StartedService) => Promise<void> | void,
  { agents = [parrot], bots = [], hasMicrophone = false }: ServiceOptions = {},
): void {
  const directories: BotProjectDirectory[] = [];
  let service: BuiltService | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (!hasBrowser) return;
    for (const bot of bots) directories.push(await writeBot(...bot));
    const paths = [...agents, ...directories.map(({ path }) => path)];
    service = await startBuiltService({ BOTHOST_AGENTS: paths.join(',') });
    browser = await launchBrowser(hasMicrophone ? service.folder : null);
    await onReady({ service, browser });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    for (const directory of directories) await directory.remove();
  });
}

/**
 * Before the tests of a file, starts the built service, and signs in as its owner Ada in a new browser. After the tests, stops
 * the browser and the service. Fails if Ada's page sent requests to other hosts, violated its content security policy or had
 * uncaught errors.
 */
export function setUpDashboard(onReady: (dashboard: Dashboard) => void, options: ServiceOptions = {}): void {
  let violations: readonly string[] = [];
  setUpBrowser(async ({ service, browser }) => {
    const context = await browser.newContext();
    const opened = await signUp(service, context, await createInvitationLink(service, 'ada@example.com'));
    violations = opened.violations;
    onReady({ service, browser, context, ...opened });
  }, options);
  afterAll(() => expect(violations).toEqual([]));
}
