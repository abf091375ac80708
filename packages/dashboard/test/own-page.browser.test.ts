import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { browserTest } from './support/browser.ts';
import { setUpBrowser } from './support/dashboard.ts';

/** Tests the example web page from docs/sessions.md, which is served from a different origin than the service. */
const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

let service: BuiltService;
let browser: Browser;
let pages: PreviewServer;

setUpBrowser(
  async (started) => {
    ({ service, browser } = started);
    const root = join(service.folder, 'client');
    await mkdir(root);
    await symlink(fromRoot('node_modules'), join(root, 'node_modules'));
    await writeFile(join(root, 'index.html'), await readDocumentedPage());
    await build({ root, configFile: false, logLevel: 'error' });
    pages = await preview({ root, configFile: false, preview: { port: 0, host: '127.0.0.1' } });
  },
  { hasMicrophone: true },
);

afterAll(() => pages?.close());

async function readDocumentedPage(): Promise<string> {
  const page = /```html\n([\s\S]*?)```/.exec(await readFile(fromRoot('docs/sessions.md'), 'utf8'))?.[1] ?? '';
  return page.replace('YOUR_PUBLIC_KEY', service.publicKey).replace('http://127.0.0.1:7420', service.origin);
}

browserTest(
  'a conversation on the web page of docs/sessions.md produces a session record with all documented fields',
  async () => {
    const page = await browser.newPage();
    await page.goto(pages.resolvedUrls?.local[0] ?? '');
    await page.getByRole('button', { name: 'Talk' }).click();
    const output = page.locator('#output');
    await output.getByText('I am the parrot').waitFor();
    await output.getByText('Rraawk! pretty bird').waitFor();
    await output.getByText(/I heard 1\.\d seconds of you/).waitFor();
    await page.close();

    const list = async () => (await service.ask('agents/parrot/sessions'))['sessions'] as { sessionId: string }[];
    const [session] = await list();
    const record = () => service.ask(`agents/parrot/sessions/${session?.sessionId}`);
    await expect.poll(record).toMatchObject({ completionStatus: 'WS_CONNECTION_CLOSED' });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(await record()).toMatchObject({
      sessionId: session?.sessionId,
      serviceId: id,
      organizationId: id,
      deploymentId: id,
      createdAt: time,
      updatedAt: time,
      endedAt: time,
      botStartSeconds: expect.any(Number),
      coldStart: false,
      completionStatus: 'WS_CONNECTION_CLOSED',
      meetingIds: [],
      resourceMetrics: { sessionId: session?.sessionId, sampleCount: expect.any(Number) },
    });
  },
);

browserTest('a page of another origin can read every response header of the service and of its bot', async () => {
  const page = await browser.newPage();
  await page.goto(pages.resolvedUrls?.local[0] ?? '');
  const names = await page.evaluate(
    async ({ origin, publicKey }) => {
      const headers = { authorization: `Bearer ${publicKey}` };
      const started = await fetch(`${origin}/v1/public/parrot/start`, { method: 'POST', headers });
      const { sessionId } = await started.json();
      const proxied = await fetch(`${origin}/v1/public/parrot/sessions/${sessionId}/unknown`, { headers });
      const refused = await fetch(`${origin}/v1/public/parrot/sessions/unknown/x`, { headers });
      // Credentials are never allowed. With them, the wildcard would not apply.
      const withCookies = await fetch(proxied.url, { headers, credentials: 'include' }).catch(() => null);
      return [...[started, proxied, refused].map((response) => [...response.headers.keys()]), withCookies];
    },
    { origin: service.origin, publicKey: service.publicKey },
  );
  await page.close();
  expect(names).toEqual([
    expect.arrayContaining(['x-request-id', 'date', 'content-length', 'cache-control']),
    expect.arrayContaining(['x-request-id', 'date', 'content-length', 'content-security-policy']),
    expect.arrayContaining(['x-request-id', 'date', 'content-length']),
    null,
  ]);
});
