import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BuiltService, startBuiltService } from '../../../test/built-service.ts';
import { buildImage, noEngine, runDocker } from '../../runtime/test/docker/engine.ts';
import { describeUnless } from '../../runtime/test/skip-with-reason.ts';
import { findFreePort } from '../../server/test/support/free-port.ts';
import { createInvitationLink, signUp } from './support/accounts.ts';
import { launchBrowser, noBrowser } from './support/browser.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';

const parrot = fileURLToPath(new URL('../../../examples/parrot', import.meta.url));
const image = 'bothost-test-parrot:1';

describeUnless(noEngine ?? noBrowser, 'the deploy page of a region that runs images', () => {
  let service: BuiltService;
  let browser: Browser;
  let page: Page;
  let violations: readonly string[];
  let missingImage: string;

  beforeAll(async () => {
    const registry = `127.0.0.1:${await findFreePort()}`;
    missingImage = `${registry}/team/bot:1`;
    await buildImage(image, parrot);
    service = await startBuiltService({
      BOTHOST_RUNTIME: 'docker',
      BOTHOST_LOCAL_IMAGES: 'true',
      BOTHOST_REGISTRIES: `http://${registry}`,
    });
    browser = await launchBrowser(null);
    ({ page, violations } = await signUp(
      service,
      await browser.newContext(),
      await createInvitationLink(service, 'ada@example.com'),
    ));
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
    expect(violations).toEqual([]);
  });

  const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
  const fill = async (agent: string, reference: string) => {
    await page.getByLabel('Name of the agent').fill(agent);
    await page.getByLabel('Image', { exact: true }).fill(reference);
  };
  const deploy = () => page.getByRole('button', { name: 'Deploy', exact: true }).click();

  it('is reached from the empty overview, whose commands build, push and deploy an image', async () => {
    const commands = page.getByRole('list', { name: 'Commands of the first deploy' });
    await commands.getByText('docker push').waitFor();
    expect(await commands.textContent()).toContain('deploy botcli-quickstart REGISTRY/botcli-quickstart:1');
    await inspect('image-overview');
    await page.getByRole('link', { name: 'Deploy a bot' }).click();
    await page.getByText('runs container images').waitFor();
    expect(await page.getByRole('button', { name: 'Choose a folder' }).count()).toBe(0);
    await inspect('image-form');
  });

  it('shows what is wrong with a reference, and why an image could not be pulled', async () => {
    await fill('parrot', 'ghcr.io/Team/bot');
    await page.getByText('This is not an image').waitFor();
    expect(await page.getByRole('button', { name: 'Deploy', exact: true }).isDisabled()).toBe(true);
    await fill('parrot', missingImage);
    await deploy();
    const alert = page.getByRole('alert');
    await alert.getByText('No version of the agent serves.').waitFor();
    expect(await alert.textContent()).toContain(missingImage.split('/')[0]);
    await inspect('image-error');
  });

  it('deploys an image, and the deployments of the agent show its digest', async () => {
    await fill('parrot', image);
    await page.getByText('This agent exists').waitFor();
    await deploy();
    await page.getByText('parrot serves.').waitFor();
    const digest = (await runDocker('image', 'inspect', '-f', '{{.Id}}', image)).slice(0, 'sha256:'.length + 12);
    await page.getByText(`digest ${digest}`).waitFor();
    await inspect('image-serves');
    await page.getByRole('link', { name: 'Show the agent' }).click();
    await page.getByRole('link', { name: 'Deployments', exact: true }).click();
    await page.getByText(`Digest ${digest}`, { exact: true }).first().waitFor();
    await inspect('image-agent');
  });
});
