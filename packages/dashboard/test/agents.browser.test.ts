import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { BuiltService } from '../../../test/built-service.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility as inspectPage } from './support/inspected-page.ts';
import { createOrganization } from './support/organization.ts';

/** Tests the pages of agents in a real browser, with the built service and a Node bot that botcli deploys. */
let service: BuiltService;
let page: Page;
setUpDashboard((dashboard) => {
  ({ service, page } = dashboard);
});

const inspect = (name: string) => inspectPage(page, name);
const dialog = () => page.getByRole('dialog');
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const deployments = () =>
  page.getByRole('list', { name: 'Deployments' }).getByRole('listitem').filter({ hasText: 'Code' });

browserTest('the agent page changes the minimum number of instances, and compares two deployments', async () => {
  const { url, botcli, deployEcho } = await createOrganization(service, page, 'scaled');
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=hello', '--skip', '--wait');
  await deployEcho('one', '', '--secrets', 'echo-secrets');
  await deployEcho('two', '', '--profile', 'agent-2x');
  await page.goto(`${url}/agents`);
  const row = page.getByRole('list', { name: 'Agents' }).getByRole('listitem').filter({ hasText: 'echo' });
  await row.getByText('Serving').waitFor();
  await inspect('agents');
  await page.getByRole('link', { name: 'echo', exact: true }).click();
  await page.getByText('Last deploy', { exact: true }).waitFor();
  await inspect('agent');

  await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
  await page.getByLabel('Minimum of instances').fill('1');
  await button('Save').click();
  await page.getByText('The scaling is changed.').waitFor();

  await page.getByLabel('Conversations').selectOption('transcript');
  await page.getByText('Owners, members and private keys can read the text.').waitFor();
  await inspect('agent-conversations');
  await button('Save').click();
  await page.getByText('The conversation level is changed. It holds for new sessions.').waitFor();

  await page.getByRole('link', { name: 'Deployments', exact: true }).click();
  await page.getByRole('link', { name: /^Compare .* with the serving deployment$/ }).click();
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await comparison.getByText('agent-2x').waitFor();
  await page.reload();
  await comparison.getByText('agent-2x').waitFor();
  await inspect('agent-comparison');
  const compared = new URL(page.url());
  // Links to comparisons of earlier versions name the page of the agent.
  await page.goto(`${url}/agents/echo${compared.search}`);
  await page.waitForURL(compared.href);
  await comparison.getByText('agent-2x').waitFor();

  await deployments().first().getByRole('link').first().click();
  await page.getByRole('heading', { name: /^Deployment / }).waitFor();
  const facts = page.getByRole('region', { name: 'What is in it' });
  await facts.getByText('test', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Changes' }).getByText('agent-2x').waitFor();
  const outcomes = page.getByRole('table', { name: 'Sessions of the deployment in the last week' });
  await outcomes.getByText('This deployment').waitFor();
  const files = page.getByRole('list', { name: 'Files that differ' });
  await files.getByText('main.js').waitFor();
  expect(await files.getByRole('listitem').count()).toBe(1);
  await files.getByRole('link', { name: 'main.js' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?file=main\.js$/);
  const lines = page.getByRole('region', { name: 'Lines of main.js' });
  await lines.getByText('\'/version\') return response.end("one")').waitFor();
  await lines.getByText('\'/version\') return response.end("two")').waitFor();
  await inspect('deployment');
  await page.reload();
  await lines.waitFor();
  await page.getByText('All 2 files').click();
  await page.getByRole('table', { name: 'All files' }).getByText('package.json').waitFor();
  await facts.getByRole('link', { name: /^Log of build / }).click();
  await page.waitForURL(/\/builds\/[0-9a-f-]{36}$/);
  await page
    .getByRole('log', { name: 'Build log' })
    .getByText(/Unpacked 2 files/)
    .waitFor();
  await inspect('build');
});

browserTest('the agent page marks a changed secret set as stale until the agent is deployed again', async () => {
  const { url, botcli, deployEcho } = await createOrganization(service, page, 'stale');
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=hello', '--skip', '--wait');
  await deployEcho('one', '', '--secrets', 'echo-secrets');
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=good morning', '--skip', '--wait');
  await page.goto(`${url}/agents/echo/settings`);
  const secrets = page.getByRole('list', { name: 'Secrets of the agent' });
  await secrets.getByText('Stale').waitFor();
  await inspect('agent-stale');
  await button('Deploy with the newest secrets').click();
  await secrets.getByText('Revision 2').waitFor();
  await secrets.getByText('Stale').waitFor({ state: 'detached' });
  await page.goto(`${url}/agents/echo/deployments`);
  await deployments().first().getByText('Serving').waitFor();
});

browserTest(
  'pages show that an agent serves although its last deploy failed, and a rollback deploys again',
  async () => {
    const { url, deployEcho } = await createOrganization(service, page, 'failed');
    await deployEcho('one');
    await deployEcho('two', '', '--profile', 'agent-2x');
    await deployEcho('three', 'throw new Error("The parrot is tired.");', '--no-wait');
    for (const [path, name] of [
      ['', 'overview-last-deploy-failed'],
      ['/agents', 'agents-last-deploy-failed'],
      ['/agents/echo', 'agent-last-deploy-failed'],
      ['/agents/echo/deployments', 'deployments-last-deploy-failed'],
    ] as const) {
      await page.goto(`${url}${path}`);
      await page.getByText('Last deploy failed', { exact: true }).first().waitFor();
      await page.getByText('Serving', { exact: true }).first().waitFor();
      await inspect(name);
    }
    await deployments().first().getByText('Failed').waitFor();
    await deployments().first().getByRole('link').first().click();
    await page.getByRole('region', { name: 'Last output' }).getByText('The parrot is tired.').waitFor();
    await inspect('deployment-failed');
    await page.goBack();
    await page
      .getByRole('button', { name: /^Roll back to / })
      .last()
      .focus();
    await page.keyboard.press('Enter');
    await dialog().getByText('agent-1x').waitFor();
    await inspect('agent-rollback');
    await button('Roll back').click();
    await deployments().first().getByText('Rollback').waitFor();
    await deployments().first().getByText('Serving').waitFor();
  },
);

browserTest('an agent can be deleted only after a person enters its name', async () => {
  const { url, deployEcho } = await createOrganization(service, page, 'deleting');
  await deployEcho('one');
  await page.goto(`${url}/agents/echo/settings`);
  await button('Delete').click();
  await inspect('agent-delete');
  expect(await button('Delete agent').isDisabled()).toBe(true);
  await dialog().getByLabel('Enter echo to confirm').fill('echo');
  await page.keyboard.press('Enter');
  await page.getByText('The agent echo is deleted.').waitFor();
  await page.goto(`${url}/agents/echo`);
  await page.getByText('No agent is named echo').waitFor();
  await inspect('agent-not-found');
  await page.goto(`${url}/agents`);
  await page.getByText('No agents yet').waitFor();
  await inspect('agents-empty');
});
