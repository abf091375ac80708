import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type BuiltService, botcliProgramPath } from '../../../test/built-service.ts';
import { createVersionedBot } from '../../server/test/support/deploys.ts';
import { browserTest } from './support/browser.ts';
import { setUpDashboard } from './support/dashboard.ts';
import { checkLayoutAndAccessibility } from './support/inspected-page.ts';

/** Tests the deploy page in a real browser, with the built service and projects on disk. */
const run = promisify(execFile);

let service: BuiltService;
let page: Page;
setUpDashboard(
  (dashboard) => {
    ({ service, page } = dashboard);
    // Playwright intercepts file pickers only while the page has a listener for the event `filechooser`. A listener that is added
    // just before a key press is too late, so keep one for all tests.
    page.on('filechooser', () => {});
  },
  { agents: [] },
);

const inspect = (name: string) => checkLayoutAndAccessibility(page, name);
const button = (name: string) => page.getByRole('button', { name, exact: true });
const step = (name: string) => page.getByRole('listitem', { name, exact: true });
const openPage = () => page.goto(`${service.origin}/orgs/home/deploy`);

async function writeProject(name: string, files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const directory = join(service.folder, name);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
  return directory;
}

/** Drops a file or directory from the disk onto the page, as a file manager does. */
async function drop(path: string): Promise<void> {
  const zone = page.getByRole('region', { name: 'Project' });
  const { x, y } = (await zone.boundingBox()) ?? { x: 0, y: 0 };
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: x + 20, y: y + 20, data });
  await session.detach();
}

/** Opens the file picker, by default with a click, and chooses a file or directory in it. */
async function choose(name: 'Choose a folder' | 'Choose an archive', path: string, press?: () => Promise<void>) {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press?.() ?? button(name).click()]);
  await chooser.setFiles(path);
}

browserTest('the overview of an organization without agents links to the deploy page', async () => {
  await page.goto(`${service.origin}/orgs/home`);
  await page.getByText('Deploy your first bot').waitFor();
  await page.getByRole('link', { name: 'Deploy a bot' }).click();
  await inspect('deploy');
});

// This test must precede all tests that call `drop`: after an emulated drop, Chromium opens no file picker on a key press.
browserTest(
  'a folder without a deploy file is deployed with the keyboard alone, and a second deploy reuses the build',
  async () => {
    const directory = await writeProject('Second Bot', createVersionedBot('two'));
    await openPage();
    await button('Choose a folder').focus();
    await choose('Choose a folder', directory, () => page.keyboard.press('Enter'));
    const name = page.getByLabel('Name of the agent');
    await expect.poll(() => name.inputValue()).toBe('second-bot');
    await name.focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('S');
    await page.getByText('Use 2 to 54 characters.').waitFor();
    expect(await button('Deploy').isDisabled()).toBe(true);
    await inspect('deploy-form');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('second');
    await page.getByLabel('Minimum of instances').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await page.getByText('second serves. New sessions use this version.').waitFor();

    await openPage();
    await choose('Choose a folder', directory);
    await name.fill('second');
    await page.getByText('The agent exists and keeps its settings.').waitFor();
    await button('Deploy').click();
    await page.getByText('This content was built before.').waitFor();
    await page.getByText('Nothing changed: second serves this version already.').waitFor();
  },
);

browserTest('botcli, a dropped folder, a picked folder and an archive produce the same content hash', async () => {
  const directory = await writeProject('hashed', {
    ...Object.fromEntries(Object.entries(createVersionedBot('one')).map(([path, text]) => [`server/${path}`, text])),
    'server/deploy.toml': 'agent_name = "hashed"\n[build.exclude]\npatterns = ["*.md"]\n',
    'server/.env': 'KEY=secret',
    'server/.gitignore': '*.log\n',
    'server/sounds/.gitignore': '!kept.log\n',
    'server/sounds/kept.log': 'kept',
    'server/sounds/ignored.log': 'ignored',
    'server/node_modules/a/index.js': 'ignored',
    'server/notes.md': 'ignored',
    'server/run.sh': '#!/bin/sh\n',
    'server/ä ö/🦜.txt': 'squawk',
    'server/empty.txt': '',
    'client/index.html': 'not packed',
  });
  const archive = join(service.folder, 'hashed.tar.gz');
  await run('tar', ['-czf', archive, '-C', service.folder, 'hashed']);
  const { stdout } = await run(execPath, [botcliProgramPath, 'cloud', 'deploy', '--dry-run', '--json'], {
    cwd: directory,
    env: service.environment,
  });
  const { packed } = JSON.parse(stdout) as { readonly packed: { readonly contentHash: string } };
  const ways = [
    () => drop(directory),
    () => choose('Choose a folder', directory),
    () => choose('Choose an archive', archive),
    () => drop(archive),
  ];
  for (const way of ways) {
    await openPage();
    await way();
    await page.getByText('Content hash').waitFor();
    expect(await page.locator('dd code').textContent()).toBe(packed.contentHash);
  }
  await page.getByText('Packed: 6 files').click();
  await page.getByText('🦜.txt').waitFor();
});

browserTest('a dropped folder is deployed, and its upload resumes after an interruption', async () => {
  await openPage();
  const directory = await writeProject('echo', {
    ...createVersionedBot('one'),
    'deploy.toml': 'agent_name = "echo"\n[scaling]\nmin_agents = 1\n',
    // Random bytes do not compress, so the upload needs several requests.
    'noise.bin': randomBytes(600_000),
    Dockerfile: 'FROM scratch\n',
    '.env': 'KEY=secret',
  });
  await drop(directory);
  await page.getByText('The Dockerfile is not used').waitFor();
  await page.getByText('Left out: 2 paths').click();
  await page.getByText('always; 1 file, 10 B').waitFor();
  await page.getByRole('button', { name: 'Do this with botcli' }).click();
  await page.getByText('botcli cloud deploy --config-file echo/deploy.toml --organization home').waitFor();
  await page.keyboard.press('Escape');
  await inspect('deploy-review');

  const offsets: unknown[] = [];
  await page.route('**/uploads/*', async (route) => {
    offsets.push(route.request().headers()['upload-offset']);
    await (offsets.length === 2 ? route.abort() : route.continue());
  });
  await button('Deploy').click();
  await step('Start').getByText('echo serves. New sessions use this version.').waitFor();
  await page.unroute('**/uploads/*');
  expect(offsets.slice(0, 3)).toEqual(['0', '262144', '262144']);
  await step('Build').getByText('a Node project').waitFor();
  await inspect('deploy-serving');
  const response = await fetch(`${service.origin}/v1/public/echo/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}` },
    body: '{}',
  });
  expect(response.status).toBe(200);
  await page.getByRole('link', { name: 'Show the agent' }).click();
  await page.getByText('at least 1 wanted').waitFor();
  await page.getByRole('link', { name: 'Sessions', exact: true }).last().click();
  await page.waitForURL(`${service.origin}/orgs/home/agents/echo/sessions`);
});

browserTest('the page shows the log of a running build, and can cancel the build', async () => {
  const directory = await writeProject('slow', {
    ...createVersionedBot('three'),
    'package.json': JSON.stringify({ main: 'main.js', scripts: { build: 'echo still building; sleep 1000' } }),
    'deploy.toml': 'agent_name = "slow"\n',
  });
  await openPage();
  await drop(directory);
  await button('Deploy').click();
  await page.getByRole('log', { name: 'Build log' }).getByText('still building').waitFor();
  await inspect('deploy-building');
  await button('Cancel the build').focus();
  await page.keyboard.press('Enter');
  await page.getByText('The build was canceled.', { exact: true }).waitFor();
  await inspect('deploy-canceled');
});

browserTest('the page shows why a build failed and why a bot does not start', async () => {
  await openPage();
  await drop(
    await writeProject('broken', {
      ...createVersionedBot('four'),
      'package.json': JSON.stringify({ main: 'main.js', scripts: { build: 'echo no voice today; exit 3' } }),
      'deploy.toml': 'agent_name = "broken"\n',
    }),
  );
  await button('Deploy').click();
  const alert = page.getByRole('alert');
  await alert.getByText('Nothing was deployed.').waitFor();
  expect(await alert.textContent()).toContain('no voice today');
  await inspect('deploy-build-failed');
  await openPage();
  await drop(
    await writeProject('tired', {
      ...createVersionedBot('five', 'throw new Error("The parrot is tired.");'),
      'deploy.toml': 'agent_name = "tired"\n',
    }),
  );
  await button('Deploy').click();
  await page.getByText('No version of the agent serves.').waitFor();
  await step('Start').getByText('The parrot is tired.').first().waitFor();
  await inspect('deploy-start-failed');
});

browserTest('the deploy page reports an invalid deploy file, a wrong file type and a missing secret set', async () => {
  await openPage();
  await drop(await writeProject('invalid', { ...createVersionedBot('six'), 'deploy.toml': 'agent_nam = "x"\n' }));
  await page.getByText('agent_nam: is not a known key. Did you mean agent_name?').waitFor();
  await inspect('deploy-refused');
  await choose('Choose an archive', join(await writeProject('text', { 'bot.py': '' }), 'bot.py'));
  await page.getByText('bot.py is not a folder or a .tar.gz archive.').waitFor();
  await drop(
    await writeProject('secretive', {
      ...createVersionedBot('seven'),
      'deploy.toml': 'agent_name = "secretive"\nsecret_set = "missing"\n',
    }),
  );
  await page.getByText('The secret set missing does not exist in the region').waitFor();
});
