import { execFile } from 'node:child_process';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { build, type Plugin, type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import {
  type DeployedProject,
  deployProject,
  packageReleaseCutoff,
} from '../../../test/existing-clients/deployed-project.ts';
import { listReachedVendors } from '../../cli/test/generated-bots/reached-vendors.ts';
import { describeUnless } from '../../runtime/test/skip-with-reason.ts';
import { createOperatorClient, testPassword } from '../../server/test/support/people.ts';
import { hasBrowser, launchBrowser, noBrowser } from './support/browser.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A cache directory that is kept between runs. */
    pythonCache: string;
  }
}

/**
 * Tests the quickstart project and its web client as Pipecat's generator writes them. Pipecat's CLI deploys the project
 * unchanged.
 */
const agent = { agentName: 'pipecat-quickstart' };
let project: DeployedProject;
let browser: Browser;
let pages: PreviewServer;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  project = await deployProject(
    agent.agentName,
    '-b web -t smallwebrtc -t daily --llm openai_responses_llm --client-framework vanilla --client-server vite',
  );
  pages = await serveClient(join(project.directory, 'client'));
  browser = await launchBrowser(project.directory);
  page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(pages.resolvedUrls?.local[0] ?? '');
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await project?.close();
});

/**
 * Replaces the default media manager, which loads code from Daily's server, with another media manager of the same package. Tests
 * cannot reach Daily's server.
 */
const localMedia: Plugin = {
  name: 'local-media',
  transform: (code, id) =>
    id.endsWith('/src/config.js')
      ? code
          .replace('{ SmallWebRTCTransport }', '{ SmallWebRTCTransport, WavMediaManager }')
          .replace('new SmallWebRTCTransport()', 'new SmallWebRTCTransport({ mediaManager: new WavMediaManager() })')
      : null,
};

/** Installs, configures, builds and serves the client, as its README says. The packages stay in the cache. */
async function serveClient(client: string): Promise<PreviewServer> {
  const root = join(inject('pythonCache'), 'clients', 'pipecat-quickstart');
  for (const folder of ['src', 'dist']) await rm(join(root, folder), { recursive: true, force: true });
  await cp(client, root, { recursive: true });
  const options = ['--no-audit', '--no-fund', '--prefer-offline', `--before=${packageReleaseCutoff}`];
  await promisify(execFile)('npm', ['install', ...options], { cwd: root });
  const { url, publicKey } = project.service;
  const start = `VITE_BOT_START_URL=${url}/v1/public/${agent.agentName}/start`;
  await writeFile(join(root, '.env'), `${start}\nVITE_BOT_START_PUBLIC_API_KEY=${publicKey}\n`);
  await build({ root, configFile: false, logLevel: 'error', plugins: [localMedia] });
  return preview({ root, configFile: false, preview: { port: 0, host: '127.0.0.1' } });
}

describeUnless(noBrowser, 'the generated quickstart', () => {
  it('has the same server files as a new project of "pipecat init quickstart"', async () => {
    const reference = join(project.directory, 'reference');
    await project.pipecat(`init quickstart -o ${reference}`);
    for (const name of ['.env.example', 'Dockerfile', 'bot.py', 'pcc-deploy.toml', 'pyproject.toml']) {
      const [deployed, expected] = await Promise.all(
        [project.directory, join(reference, agent.agentName)].map((root) =>
          readFile(join(root, 'server', name), 'utf8'),
        ),
      );
      expect(deployed).toBe(expected);
    }
  });

  it("talks to its web client, and Pipecat's CLI shows and stops the session", async () => {
    const { service, standIns, pipecat } = project;
    await page.getByRole('button', { name: 'Connect' }).click();
    const conversation = page.locator('#conversation-log');
    await conversation.getByText('You said: Start by concisely introducing yourself.').waitFor();
    // Wait until five seconds of audio from the microphone (16-bit samples at 16 kHz) have reached the stand-in for Deepgram.
    const heard = () => standIns.visits.find(({ vendor }) => vendor === 'deepgram')?.audioBytes;
    await expect.poll(heard).toBeGreaterThan(160_000);
    expect(listReachedVendors(standIns)).toEqual(['cartesia', 'deepgram', 'openai-responses']);

    const { sessions } = await service.client.getSessions({ params: agent, query: { status: 'active' } });
    const { sessionId = '' } = sessions[0] ?? {};
    expect(await pipecat('cloud agent sessions')).toMatch(new RegExp(`${sessionId}\t.*\tActive\t`));
    expect(await pipecat(`cloud agent logs ${agent.agentName} --session-id ${sessionId}`)).toContain(
      'Client connected',
    );
    await pipecat(`cloud agent stop --session-id ${sessionId} --force`);
    await page.locator('#events-log').getByText('Disconnected from bot').waitFor();
    const end = async () => (await service.client.getSession({ params: { ...agent, sessionId } })).completionStatus;
    await expect.poll(end).toBe('SESSION_STOPPED');
  });

  it('talks to a signed-in person who opens its talk page, without a key', async () => {
    const { service } = project;
    expect((await service.client.getAgent({ params: agent })).transports).toEqual(['daily', 'webrtc']);
    const operator = await createOperatorClient(service);
    const invitation = { organization: service.organization, role: 'member' } as const;
    const { url } = await operator.createOperatorInvitation({ body: { ...invitation, email: 'ada@example.com' } });
    const talk = await (await browser.newContext()).newPage();
    talk.setDefaultTimeout(120_000);
    await talk.goto(url);
    await talk.getByLabel('Name').fill('Ada');
    await talk.getByLabel('Password').fill(testPassword);
    await talk.getByRole('button', { name: 'Create account' }).click();
    await talk.waitForURL(`${service.url}/orgs/${service.organization}`);

    // The printed link names neither an organization nor a transport.
    await talk.goto(`${service.url}/talk/${agent.agentName}`);
    await talk.waitForURL(`${service.url}/orgs/${service.organization}/talk/${agent.agentName}`);
    const transport = talk.getByLabel('Transport');
    await expect.poll(() => transport.inputValue()).toBe('webrtc');
    await talk.getByRole('button', { name: 'Start talking' }).click();
    await talk.getByRole('status').getByText('Ready').waitFor();
    const transcript = talk.getByRole('log', { name: 'Transcript' });
    await transcript.getByText('You said: Start by concisely introducing yourself.').first().waitFor();
    await checkLayoutAndAccessibility(talk, 'quickstart-talk');
    await talk.getByRole('button', { name: 'End', exact: true }).click();
    await talk.getByRole('status').getByText('The session has ended.').waitFor();
    await talk.context().close();
  });
});
