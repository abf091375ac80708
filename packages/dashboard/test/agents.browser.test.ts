import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type BuiltService, botcliProgramPath } from '../../../test/service.ts';
import { createVersionedBot } from '../../server/test/support/deploys.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';

/** Tests the pages of agents in a real browser, with the built service and a Node bot that botcli deploys. */
let service: BuiltService;
let page: Page;
setUpDashboard((dashboard) => {
  ({ service, page } = dashboard);
});

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const dialog = () => page.getByRole('dialog');
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
const deployments = () =>
  page.getByRole('list', { name: 'Deployments' }).getByRole('listitem').filter({ hasText: 'Code' });

async function botcli(...words: string[]): Promise<void> {
  await promisify(execFile)(execPath, [botcliProgramPath, 'cloud', ...words], { env: service.environment });
}

/** Deploys a bot that returns `version`. `words` are additional options of `botcli cloud deploy`. */
async function deploy(version: string, first: string, ...words: string[]): Promise<void> {
  const directory = join(service.folder, 'echo');
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(createVersionedBot(version, first)))
    await writeFile(join(directory, name), text);
  await botcli('deploy', 'echo', '--build-dir', directory, '--yes', ...words);
}

browserTest('the agent page changes the minimum number of instances, and compares two deployments', async () => {
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=hello', '--skip', '--wait');
  await deploy('one', '', '--secrets', 'echo-secrets');
  await deploy('two', '', '--profile', 'agent-2x');
  await page.getByRole('link', { name: 'Agents', exact: true }).click();
  const row = page.getByRole('list', { name: 'Agents' }).getByRole('listitem').filter({ hasText: 'echo' });
  await row.getByText('Serving').waitFor();
  await inspect('agents');
  await page.getByRole('link', { name: 'echo', exact: true }).click();
  await page.getByText('Last deploy', { exact: true }).waitFor();
  await inspect('agent');

  await page.getByLabel('Minimum of instances').fill('1');
  await button('Save').click();
  await page.getByText('The scaling is changed.').waitFor();
  await page.getByText('at least 1 wanted').waitFor();

  await page.getByRole('link', { name: /^Compare .* with the serving deployment$/ }).click();
  const comparison = page.getByRole('region', { name: 'Comparison' });
  await comparison.getByText('agent-2x').waitFor();
  await page.reload();
  await comparison.getByText('agent-2x').waitFor();
  await inspect('agent-comparison');
});

browserTest('the agent page marks a changed secret set as stale until the agent is deployed again', async () => {
  await botcli('secrets', 'set', 'echo-secrets', 'GREETING=good morning', '--skip', '--wait');
  await page.reload();
  const secrets = page.getByRole('list', { name: 'Secrets of the agent' });
  await secrets.getByText('Stale').waitFor();
  await inspect('agent-stale');
  await button('Deploy with the newest secrets').click();
  await secrets.getByText('Revision 2').waitFor();
  await secrets.getByText('Stale').waitFor({ state: 'detached' });
  await deployments().first().getByText('Serving').waitFor();
});

browserTest('the agent page shows why a deployment failed, and a rollback restores an earlier deployment', async () => {
  await deploy('three', 'throw new Error("The parrot is tired.");', '--no-wait');
  await page.goto(`${service.origin}/orgs/home/agents/echo`);
  await deployments().first().getByText('Failed').waitFor();
  await page.getByText('The parrot is tired.').first().waitFor();
  await inspect('agent-degraded');
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
});

browserTest('an agent can be deleted only after a person enters its name', async () => {
  await button('Delete').click();
  await inspect('agent-delete');
  expect(await button('Delete agent').isDisabled()).toBe(true);
  await dialog().getByLabel('Enter echo to confirm').fill('echo');
  await page.keyboard.press('Enter');
  await page.getByText('The agent echo is deleted.').waitFor();
  await page.goto(`${service.origin}/orgs/home/agents/echo`);
  await page.getByText('No agent is named echo').waitFor();
  await inspect('agent-not-found');
  await page.goto(`${service.origin}/orgs/home/agents`);
  await page.getByRole('link', { name: 'parrot', exact: true }).waitFor();
  await botcli('agent', 'delete', 'parrot', '--yes');
  await page.getByText('No agents yet').waitFor();
  await inspect('agents-empty');
});
