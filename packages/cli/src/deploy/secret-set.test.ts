import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeDeployService, startFakeDeployService } from '../../test/fake-service/fake-deploy-service.ts';
import { privateKey } from '../../test/fake-service/records.ts';
import { type RunOptions, runProgram } from '../../test/run-program.ts';

const deployFile = 'agent_name = "my-bot"\nsecret_set = "keys"\n';
const environmentFile = 'API_KEY=confidential\nEMPTY=\n';
let service: FakeDeployService;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-secret-set-'));
  service = await startFakeDeployService();
  service.faults.keys = 'missing';
  await put({ 'server/deploy.toml': deployFile, 'server/package.json': '{"main": "bot.js"}', 'server/bot.js': '// 1' });
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const deploy = (options: string, given: RunOptions = {}) =>
  runProgram(['cloud', 'deploy', ...options.split(' ').filter((word) => word !== '')], {
    directory: folder,
    variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey, BOTCLI_CONFIG: join(folder, 'config.toml') },
    ...given,
  });
const sentOperations = () => service.requests.map(({ operation }) => operation);
const stored = () => service.requests.filter(({ operation }) => operation === 'putSecrets').map(({ body }) => body);

test.each([
  [
    { region: 'eu-west' },
    'is in the region eu-west, but the agent is in us-west',
    'secrets set OTHER-NAME --file server/.env --region us-west',
  ],
  [{ type: 'imagePullSecret' }, 'keys is an image pull secret', 'botcli cloud secrets list keys'],
  [
    { status: 'failed', errorMessage: 'No room.' },
    'is not ready. No room.',
    'To set the values again, run: botcli cloud secrets set keys --file server/.env --skip\n',
  ],
] as const)(
  'a secret set with the state %j fails before the upload, and a command is suggested',
  async (keys, why, help) => {
    service.faults.keys = keys;
    const { status, stderr } = await deploy('--yes');
    expect(status).toBe(1);
    expect(stderr).toContain(why);
    expect(stderr).toContain(help);
    expect(sentOperations()).not.toContain('getBuildUploadUrl');
  },
);

test.each([
  ['', 'server/.env', ' --skip'],
  ['--region us-west', 'server/.env', ' --region us-west --skip'],
  ['--config-file server/deploy.toml', 'server/.env', ' --skip'],
  ['--organization acme --api-url ORIGIN', 'server/.env', ' --organization acme --api-url ORIGIN --skip'],
])('the command for a missing secret set is complete after "cloud deploy %s"', async (options, file, rest) => {
  await put({ 'server/.env': environmentFile });
  const withOrigin = (text: string) => text.replaceAll('ORIGIN', service.origin);
  const { status, stderr } = await deploy(withOrigin(options));
  expect(status).toBe(1);
  expect(stderr).toBe(
    "error: The agent's secret set keys does not exist.\n" +
      `To create it, run: botcli cloud secrets set keys --file ${file}${withOrigin(rest)}\n`,
  );
  expect(stored()).toEqual([]);
});

test('the command for a missing secret set quotes the path of a deploy file in another directory', async () => {
  await put({ 'my bot/deploy.toml': deployFile, 'my bot/.env': environmentFile, 'elsewhere/README.md': '' });
  const { stderr } = await runProgram(['cloud', 'deploy', '--config-file', '../my bot/deploy.toml'], {
    directory: join(folder, 'elsewhere'),
    variables: { BOTCLI_API_URL: service.origin, BOTCLI_TOKEN: privateKey },
  });
  expect(stderr).toContain(`secrets set keys --file '${join(folder, 'my bot/.env')}' --skip\n`);
});

test('a missing secret set without a file .env fails with the path of the file to write', async () => {
  const { status, stderr } = await deploy('', { terminal: true });
  expect(status).toBe(1);
  expect(stderr).toContain(
    'To create it, write its values to server/.env, then run: botcli cloud secrets set keys --file server/.env\n',
  );
});

test('a deploy in a terminal creates a missing secret set from .env, shows its keys but no values, and deploys', async () => {
  await put({ 'server/.env': environmentFile });
  const { status, stdout, stderr } = await deploy('', { terminal: true, answers: [true, true] });
  expect(status).toBe(0);
  expect(stderr).toContain("The agent's secret set keys does not exist. It can be created from server/.env:\n");
  expect(stripVTControlCharacters(stderr)).toMatch(
    /API_KEY +new[\s\S]*Skipped keys without a value: EMPTY[\s\S]*\? Create the secret set keys\?/,
  );
  expect(stdout + stderr).not.toContain('confidential');
  const body = { secrets: [{ secretKey: 'API_KEY', secretValue: 'confidential' }], mode: 'merge', region: 'us-west' };
  expect(stored()).toEqual([
    { ...body, dryRun: true, expectedRevision: 0 },
    { ...body, dryRun: false, expectedRevision: 0 },
  ]);
  expect(service.requests.find(({ operation }) => operation === 'createAgent')?.body).toMatchObject({
    secretSet: 'keys',
  });
});

test('declining the deploy after the secret set was created prints that the set remains', async () => {
  await put({ 'server/.env': environmentFile });
  const { status, stderr } = await deploy('', { terminal: true, answers: [true, false] });
  expect(status).toBe(1);
  expect(stderr).toMatch(/\nThe secret set was created, but nothing was deployed\.\n$/);
});

test('declining to create the secret set changes nothing', async () => {
  await put({ 'server/.env': environmentFile });
  const { status, stderr } = await deploy('', { terminal: true, answers: [false] });
  expect(status).toBe(1);
  expect(stderr).toMatch(/\nNothing was changed\.\n$/);
  expect(stored()).toEqual([expect.objectContaining({ dryRun: true })]);
});

test.each(['--yes', '--force', '--dry-run'])(
  'a deploy with %s asks nothing and creates no secret set',
  async (option) => {
    await put({ 'server/.env': environmentFile });
    const { status, stderr } = await deploy(option, { terminal: true });
    expect(status).toBe(1);
    expect(stderr).toContain('To create it, run: botcli cloud secrets set keys --file server/.env\n');
    expect(stored()).toEqual([]);
  },
);

test('an .env without values fails with its path', async () => {
  await put({ 'server/.env': 'API_KEY=\n' });
  const { status, stderr } = await deploy('', { terminal: true });
  expect(status).toBe(1);
  expect(stderr).toContain('None of the keys has a value. Nothing was sent.\nEnter the values in server/.env.\n');
});
