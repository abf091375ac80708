import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { InterruptedError } from '../../../src/failure.ts';
import { generateDockerfile } from '../../../src/scaffold/project/deployment.ts';
import { type FakeDeployService, startFakeDeployService } from '../../fake-service/fake-deploy-service.ts';
import { privateKey } from '../../fake-service/records.ts';
import { type RunOptions, runProgram } from '../../run-program.ts';

let service: FakeDeployService;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-deploy-'));
  service = await startFakeDeployService();
  await put({ 'deploy.toml': 'agent_name = "my-bot"\n', 'package.json': '{"main": "bot.js"}', 'bot.js': '// 1' });
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

async function put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

const deploy = (line = '', given: RunOptions = {}) =>
  runProgram(['cloud', 'deploy', ...line.split(' ').filter((word) => word !== '')], {
    directory: folder,
    variables: {
      BOTCLI_API_URL: service.origin,
      BOTCLI_TOKEN: privateKey,
      BOTCLI_CONFIG: join(folder, '.botcli/c.toml'),
    },
    ...given,
  });
const sentOperations = () => service.requests.map(({ operation }) => operation);
const lastBody = (operation: string) => service.requests.findLast((one) => one.operation === operation)?.body;

test('a first deploy shows the packed files, the changes, the build log and suggested commands', async () => {
  await put({ '.env': 'KEY=1', 'node_modules/a.js': 'x' });
  const { status, stdout, stderr } = await deploy('--yes');
  expect(stderr.split('\n')).toEqual([
    expect.stringMatching(/^Directory\t/),
    'Packed\t2 files, 22 B',
    'Largest\tpackage.json 18 B, bot.js 4 B',
    'Excluded\tFiles\tSize\tPaths',
    'always\t2\t27 B\tdeploy.toml, .env',
    'by default\t1\t1 B\tnode_modules',
    'Agent\tmy-bot (new)',
    `Service\t${service.origin}, region us-west`,
    'Settings\tdeploy.toml',
    'Change\tFrom\t\tTo',
    expect.stringMatching(/^code\t\t->\t[0-9a-f]{12}$/),
    'agent_profile\t\t->\tagent-1x',
    'max_session_duration\t\t->\t7200',
    'websocket_auth\t\t->\ttoken',
    'scaling.min_agents\t\t->\t0',
    'scaling.max_agents\t\t->\t50',
    expect.stringMatching(/^Build /),
    '  installing',
    '  done',
    '',
  ]);
  expect(stdout.split('\n')).toEqual([
    'Agent\tmy-bot',
    'Result\tActive after 0.0 s',
    expect.stringMatching(/^Deployment\t/),
    expect.stringMatching(/^Build\t/),
    'Start a session\tbotcli cloud agent start my-bot',
    `Talk to the bot\t${service.origin}/talk/my-bot (over WebSocket or WebRTC)`,
    'Show the logs\tbotcli cloud agent logs my-bot --follow',
    '',
  ]);
  expect(status).toBe(0);
  expect(lastBody('createAgent')).toMatchObject({
    serviceName: 'my-bot',
    region: 'us-west',
    buildId: service.builds[0]?.id,
  });
});

test.each([
  [
    ['websocket', 'lightrtc'],
    ['Start a session\tbotcli cloud agent start my-bot --transport websocket', 'Talk to the bot\t'],
  ],
  [
    ['lightrtc', 'carrier1'],
    ['Start a session\tbotcli cloud agent start my-bot --transport webrtc', 'Talk to the bot\t?transport=webrtc'],
  ],
  [['carrier1'], ['Connect\tthrough carrier1; see the README of the project']],
  [['hostedrtc'], ['Connect\tthrough hostedrtc; see the README of the project']],
])(
  'suggests the commands and pages for talking to a generated bot with the transports %j',
  async (transports, says) => {
    await put({
      '.botcli/project.json': JSON.stringify({ configuration: { transports } }),
      'server/deploy.toml': 'agent_name = "my-bot"\n',
      'server/package.json': '{"main": "bot.js"}',
      'server/bot.js': '// 1',
    });
    await rm(join(folder, 'deploy.toml'));
    const { stdout } = await deploy('--yes');
    const next = stdout.split('\n').filter((line) => /^(Start|Talk|Connect)/.test(line));
    expect(next.map((line) => line.replace(/http.*talk.my-bot/, ''))).toEqual(says);
    const { talkUrl, commands } = JSON.parse((await deploy('--json')).stdout);
    const page = `${service.origin}/talk/my-bot${transports.includes('websocket') ? '' : '?transport=webrtc'}`;
    expect({ talkUrl, start: `Start a session\t${commands.start}` }).toEqual({
      talkUrl: transports.includes('lightrtc') ? page : null,
      start: says[0]?.startsWith('Start') ? says[0] : 'Start a session\tnull',
    });
  },
);

test('ignores the transports in .botcli/project.json of the current directory if --build-dir is another directory', async () => {
  await put({
    '.botcli/project.json': JSON.stringify({ configuration: { transports: ['carrier1'] } }),
    'other/package.json': '{"main": "bot.js"}',
    'other/bot.js': '// 1',
  });
  const { stdout } = await deploy('--yes --build-dir other');
  expect(stdout).toContain('(over WebSocket or WebRTC)');
});

test('reports an unchanged project without a prompt, an upload or a build', async () => {
  await deploy('--yes');
  const before = service.requests.length;
  const { status, stdout } = await deploy('--json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ change: 'none', changes: [], deployment: { state: 'ready' } });
  expect(sentOperations().slice(before)).toEqual(['getAgent', 'getDeployment']);
});

test('--force deploys an unchanged project again from its existing build', async () => {
  await deploy('--yes');
  const before = service.requests.length;
  expect(await deploy('--force')).toMatchObject({ status: 0, stderr: expect.stringContaining('Nothing changes') });
  expect(sentOperations().slice(before)).not.toContain('getBuildUploadUrl');
  expect(lastBody('updateAgent')).toMatchObject({ forceRedeploy: true, buildId: service.builds[0]?.id });
});

test('shows changed settings and reuses the existing build if the code is unchanged', async () => {
  await deploy('--yes');
  await put({ 'deploy.toml': 'agent_name = "my-bot"\n[scaling]\nmin_agents = 2\n' });
  const before = service.requests.length;
  const { status, stdout } = await deploy('--max-agents 9 --yes --json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout).changes).toEqual([
    { key: 'scaling.min_agents', from: '0', to: '2' },
    { key: 'scaling.max_agents', from: '50', to: '9' },
  ]);
  expect(sentOperations().slice(before)).toEqual(['getAgent', 'getDeployment', 'updateAgent', 'getDeployment']);
  expect(lastBody('updateAgent')).toMatchObject({ autoScaling: { minAgents: 2, maxAgents: 9 } });
});

test('removes the secret set from the agent after secret_set was removed from the deploy file', async () => {
  await put({ 'deploy.toml': 'agent_name = "my-bot"\nsecret_set = "keys"\n' });
  await deploy('--yes');
  expect(lastBody('createAgent')).toMatchObject({ secretSet: 'keys' });
  await put({ 'deploy.toml': 'agent_name = "my-bot"\n' });
  const { status, stdout, stderr } = await deploy('--yes --json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout).changes).toEqual([{ key: 'secret_set', from: 'keys', to: null }]);
  expect(stderr).toContain('secret_set\tkeys\t->\t\n');
  expect(lastBody('updateAgent')).toMatchObject({ secretSet: null });
  expect(JSON.parse((await deploy('--json')).stdout)).toMatchObject({ change: 'none' });
});

test('assigns the secret set of --secrets to the agent, and keeps it in a later deploy without --secrets', async () => {
  await rm(join(folder, 'deploy.toml'));
  await deploy('my-bot --secrets keys --yes');
  expect(lastBody('createAgent')).toMatchObject({ secretSet: 'keys' });
  await deploy('my-bot --min-agents 1 --yes');
  expect(lastBody('updateAgent')).not.toHaveProperty('secretSet');
});

test('lists a newer revision of the secret set among the changes', async () => {
  await put({ 'deploy.toml': 'agent_name = "my-bot"\nsecret_set = "keys"\n' });
  await deploy('--yes');
  const [deployed] = service.deployments;
  const stale = { secretSet: 'keys', revision: 1, newestRevision: 3, stale: true };
  Object.assign(deployed ?? {}, { secretRevisions: [stale] });
  expect(JSON.parse((await deploy('--yes --json')).stdout)).toMatchObject({
    change: 'deployment',
    changes: [{ key: 'secrets', from: 'revision 1', to: 'revision 3' }],
  });
  Object.assign(service.deployments[0] ?? {}, { secretRevisions: [{ ...stale, newestRevision: null }] });
  expect(JSON.parse((await deploy('--dry-run --json')).stdout)).toMatchObject({
    changes: [{ key: 'secrets', from: 'revision 1', to: 'the set as it is now' }],
  });
});

test('does not upload content that was built before', async () => {
  await deploy('--yes');
  await put({ 'bot.js': '// 2' });
  await deploy('--yes');
  await put({ 'bot.js': '// 1' });
  const before = service.requests.length;
  expect((await deploy('--yes')).status).toBe(0);
  expect(sentOperations().slice(before)).not.toContain('getBuildUploadUrl');
  expect(lastBody('updateAgent')).toMatchObject({ buildId: service.builds[1]?.id });
});

test('asks for confirmation, and uploads nothing if the user declines or there is no terminal', async () => {
  const no = await deploy('', { terminal: true, answers: [false] });
  expect(no).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('? Create the agent my-bot and deploy this?'),
  });
  expect(await deploy()).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
  expect(await deploy('', { terminal: true, answers: ['ctrl-c'] })).toMatchObject({ status: 130 });
  expect(sentOperations()).not.toContain('getBuildUploadUrl');
  expect(await deploy('', { terminal: true, answers: [true] })).toMatchObject({ status: 0 });
});

test('a dry run shows what would change and changes nothing', async () => {
  const { status, stdout } = await deploy('--dry-run --json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    dryRun: true,
    agentName: 'my-bot',
    region: 'us-west',
    packed: { files: 2 },
  });
  expect(sentOperations()).toEqual(['getAgent', 'getProperties']);
  await deploy('--yes');
  expect(await deploy('--dry-run')).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('Nothing would change.'),
  });
});

test('resumes an interrupted upload in the same run of botcli, or in the next run if the first run failed', async () => {
  await put({ 'voice.bin': randomBytes(2_000_000) });
  service.faults.breaks = [100_000, 1_000, 0];
  expect((await deploy('--yes')).status).toBe(0);
  expect(sentOperations().filter((name) => name === 'getBuildUploadUrl')).toHaveLength(4);

  await put({ 'voice.bin': randomBytes(2_000_000) });
  // The connection breaks more often than the client retries, so the first deploy fails. The second deploy resumes the upload.
  service.faults.breaks = [70_000, ...Array.from({ length: 9 }, () => 0)];
  const broken = await deploy('--yes');
  expect(broken).toMatchObject({ status: 1, stderr: expect.stringContaining('was lost during the upload') });
  expect(service.received()).toHaveLength(70_000);
  const resumed = await deploy('--yes');
  expect(resumed).toMatchObject({ status: 0, stderr: expect.stringContaining('Resuming an earlier upload') });
});

test('renews an expired upload token, and exits with 1 when the service rejects the upload', async () => {
  service.faults.refuse = 'upload-token-invalid';
  expect((await deploy('--yes')).status).toBe(0);
  await put({ 'bot.js': '// 2' });
  service.faults.refuse = 'storage-full';
  const full = await deploy('--yes --json');
  expect(full.status).toBe(1);
  expect(JSON.parse(full.stdout).error).toMatchObject({ reason: 'storage-full' });
});

test('deploy uploads to the configured API URL if the host in the returned upload URL is unreachable', async () => {
  await put({ 'voice.bin': randomBytes(2_000_000) });
  service.faults.publicOrigin = 'http://127.0.0.1:1';
  expect((await deploy('--yes')).status).toBe(0);
});

test('a deploy retries its requests while the service is unavailable', async () => {
  await deploy('--yes');
  await put({ 'bot.js': '// 2' });
  const { length } = service.requests;
  const running = deploy('--yes');
  await expect.poll(() => sentOperations().slice(length)).toContain('listBuilds');
  service.faults.hangUps = 3;
  expect((await running).status).toBe(0);
});

test('Ctrl-C during an upload exits with 130, removes temporary files and keeps the uploaded part', async () => {
  await put({ 'voice.bin': randomBytes(1_000_000) });
  const interruption = new AbortController();
  service.faults.stalls = true;
  const running = deploy('--yes', { signal: interruption.signal });
  await expect.poll(() => service.received().length).toBeGreaterThan(0);
  interruption.abort(new InterruptedError());
  expect(await running).toMatchObject({ status: 130, stderr: expect.stringContaining('The uploaded part is kept') });
  expect((await deploy('--yes')).status).toBe(0);
});

test('after a lost response, repeats a deploy request only if the service did not execute the request', async () => {
  service.faults.losesWrites = 'after';
  expect((await deploy('--yes')).status).toBe(0);
  service.faults.losesWrites = 'before';
  await put({ 'bot.js': '// 2' });
  expect((await deploy('--yes')).status).toBe(0);
  expect(service.deployments).toHaveLength(2);
});

test('reports after Ctrl-C that the build or rollout continues in the service', async () => {
  const interruptAt = async (until: string) => {
    const interruption = new AbortController();
    const before = service.requests.length;
    const running = deploy('--yes', { signal: interruption.signal });
    await expect.poll(() => sentOperations().slice(before), { interval: 1 }).toContain(until);
    interruption.abort(new InterruptedError());
    return running;
  };
  service.faults.log = Array.from({ length: 10_000 }, () => 'installing');
  expect(await interruptAt('getBuildLogs')).toMatchObject({
    status: 130,
    stderr: expect.stringContaining('The build continues'),
  });
  service.faults.pollsUntilReady = 10_000;
  expect(await interruptAt('getDeployment')).toMatchObject({
    status: 130,
    stderr: expect.stringContaining('The rollout continues'),
  });
});

test('measures the wait for a rollout with the monotonic clock, and exits with 1 after 600 s', async () => {
  service.faults.pollsUntilReady = 3;
  let clockMs = 0;
  const countSeconds = () => {
    clockMs += 1_000;
    return clockMs;
  };
  expect((await deploy('--yes', { monotonicMs: countSeconds })).stdout).toMatch(/Active after [1-9]\d*\.0 s/);

  await put({ 'bot.js': '// 2' });
  service.faults.pollsUntilReady = 10_000;
  const late = await deploy('--yes --json', { monotonicMs: () => 60 * countSeconds() });
  expect(late.status).toBe(1);
  expect(JSON.parse(late.stdout).error).toMatchObject({ reason: 'rollout-timeout' });
});

test('exits with 1 if the build fails, prints the error of the build and deploys nothing', async () => {
  service.faults.buildFails = true;
  service.faults.log = ['error: \u001b[31mno\u001b[2J main'];
  const { status, stdout, stderr } = await deploy('--yes --json');
  expect(status).toBe(1);
  expect(stderr).toContain('  error: no main\n');
  expect(JSON.parse(stdout).error).toMatchObject({
    reason: 'build-failed',
    error: expect.stringMatching(/failed: "npm ci" failed with status 1\.$/),
    issues: [{ message: 'npm error code E404' }],
    hint: expect.stringContaining('botcli cloud build logs'),
    details: { build: { status: 'failed' } },
  });
  expect(sentOperations()).not.toContain('createAgent');
  service.builds.length = 0;
  expect((await deploy('--yes')).stderr).toContain(
    'failed with status 1.\n  npm error code E404\nNothing was deployed.',
  );
});

test('shows on a terminal that a build is queued, then running', async () => {
  service.faults.waits = 1;
  const { status, stderr } = await deploy('--yes', { terminal: true });
  expect(status).toBe(0);
  expect(stderr).toMatch(/Build is queued, 0 s[\s\S]*Building, 0 s[\s\S]*installing[\s\S]*done/);
});

test('shows the time since the start of a build that an earlier run of botcli started', async () => {
  service.faults.startedAt = '2026-11-20T16:58:00.000Z';
  const { stderr } = await deploy('--yes', { terminal: true, now: new Date('2026-11-20T17:00:00.000Z') });
  expect(stderr).toMatch(/Building, 120 s[\s\S]*installing/);
  expect(stderr).not.toMatch(/queued|Waiting/);
});

test('exits with 1 when a bot does not start, and shows its last output and the deployment that keeps serving', async () => {
  await deploy('--yes');
  const serving = service.deployments[0]?.id;
  await put({ 'bot.js': 'throw 1' });
  service.faults.fails = {
    code: 'PCC_BOT_EXITED',
    message: 'The bot exited with code 1 before it was ready.',
    exitCode: 1,
    signal: null,
    outOfMemory: false,
    tail: 'Trace:\n\u001b[2Jbot.js:1\n',
  };
  const failed = await deploy('--yes');
  expect(failed).toMatchObject({ status: 1, stdout: '' });
  expect(failed.stderr).toContain('exited with code 1 before it was ready.');
  expect(failed.stderr).toContain(`The deployment ${serving} keeps serving`);
  expect(failed.stderr).toContain('\n  Trace:\n  bot.js:1\n');
  // Without --force, deploy does not retry a failed deployment.
  const again = await deploy('--yes --json');
  expect(again.status).toBe(1);
  expect(JSON.parse(again.stdout).error).toMatchObject({
    reason: 'deployment-failed',
    // The hint must end with the command, so that users can copy it.
    hint: expect.stringMatching(
      /^Nothing has changed since then. .* To show its logs, run: botcli .* --deployment \S+$/,
    ),
    details: { servingDeploymentId: serving },
  });
  service.faults.fails = null;
  expect((await deploy('--force')).status).toBe(0);
});

test('reports that a failed bot printed nothing, and suggests no command for logs', async () => {
  const silent = { exitCode: 0, signal: null, outOfMemory: false, tail: '', message: 'It exited with status 0.' };
  service.faults.fails = { ...silent, code: 'PCC_BOT_EXITED' };
  const { status, stderr } = await deploy('--yes');
  expect(status).toBe(1);
  expect(stderr).toMatch(/ No deployment of the agent is active\.\nThe bot wrote no output\.\n$/);
  // If preparing the deployment fails, the bot never runs, so the missing output must not be reported.
  service.faults.fails = { ...silent, code: 'PCC_PREPARE_FAILED', exitCode: null };
  expect((await deploy('--force')).stderr).not.toContain('The bot wrote no output');
});

test('waits for the rollout and shows its phases, unless --no-wait is given', async () => {
  service.faults.pollsUntilReady = 5;
  const { stderr, stdout } = await deploy('--yes');
  expect(stderr).toContain('Preparing\nStarting the first instance\n');
  expect(stdout).toContain('Result\tActive');
  await put({ 'bot.js': '// 2' });
  const left = await deploy('--yes --no-wait');
  expect(left).toMatchObject({ status: 0, stdout: expect.stringContaining('Accepted, not ready yet (preparing)') });
  service.faults.live = 3;
  await put({ 'bot.js': '// 3' });
  expect((await deploy('--yes')).stderr).toContain('3 live sessions stay on the current version');
});

test('shows the rollout status in full on a narrow terminal', async () => {
  service.faults.pollsUntilReady = 5;
  const first = await deploy('--yes', { terminal: true, columns: 60 });
  expect(first.stderr).toMatch(/\d+ s: Preparing; none is active yet\r/);
  expect(first.stderr).toMatch(/\d+ s: Starting the first instance; none is active yet\r/);
  await put({ 'bot.js': '// 2' });
  const second = await deploy('--yes', { terminal: true, columns: 60 });
  expect(second.stderr).toMatch(/\d+ s: Starting the first instance; previous one is active\r/);
});

test('exits with 1 when the followed build is canceled, and deploys nothing', async () => {
  service.faults.buildIsCanceled = true;
  const { status, stderr } = await deploy('--yes');
  expect(status).toBe(1);
  expect(stderr).toMatch(/The build \S+ was canceled\.\n.*Nothing was deployed\./);
  expect(service.deployments).toEqual([]);
});

test('--build-id deploys an existing build without packing, and rejects a failed or unknown build', async () => {
  await deploy('--yes');
  await put({ 'bot.js': '// 2' });
  service.faults.buildFails = true;
  await deploy('--yes');
  const [failed, good] = service.builds;
  expect(await deploy(`--build-id ${failed?.id} --yes`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('failed'),
  });
  expect(await deploy(`--build-id ${good?.id} --yes`)).toMatchObject({ status: 0 });
  expect(await deploy(`--build-id ${good?.id} --build-dir . --yes`)).toMatchObject({ status: 2 });
  expect(await deploy('--build-id unknown --yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Build "unknown" does not exist.'),
  });
});

test('--build-id rejects a build that has not ended', async () => {
  await deploy('--yes');
  const [build] = service.builds;
  if (build === undefined) throw new Error('The service has no build.');
  service.builds[0] = { ...build, status: 'building' };
  const { status, stderr } = await deploy(`--build-id ${build.id} --yes`);
  expect(status).toBe(1);
  expect(stderr).toContain(`The build ${build.id} has not ended yet.`);
});

test('--build-dir takes precedence over build_id in the deploy file', async () => {
  await deploy('--yes');
  const deployFile = `agent_name = "my-bot"\nbuild_id = "${service.builds[0]?.id}"\n`;
  await put({ 'deploy.toml': deployFile, 'server/bot.py': 'x' });
  expect(JSON.parse((await deploy('--dry-run --json')).stdout)).toMatchObject({ packed: null });
  const { stdout } = await deploy('--build-dir server --dry-run --json');
  expect(JSON.parse(stdout)).toMatchObject({ packed: { files: 1 } });
});

test('finds a deploy file in server/ with the name pcc-deploy.toml, or at the path in --config-file', async () => {
  await rm(join(folder, 'deploy.toml'));
  expect(await deploy('--yes')).toMatchObject({ status: 2, stderr: expect.stringContaining('agent_name = "my-bot"') });
  await put({ 'server/pcc-deploy.toml': 'agent_name = "my-bot"\n', 'server/bot.py': 'x' });
  const { stdout } = await deploy('--dry-run --json');
  expect(JSON.parse(stdout)).toMatchObject({ packed: { files: 1 } });
  await put({ 'other/x.toml': 'agent_name = "other"\n[build]\ncontext_dir = "../server"\n' });
  const other = JSON.parse((await deploy('--config-file other/x.toml --dry-run --json')).stdout);
  expect(other).toMatchObject({ agentName: 'other', packed: { files: 1 } });
  expect(JSON.parse((await deploy('third --build-dir server --dry-run --json')).stdout)).toMatchObject({
    agentName: 'third',
  });
  expect(await deploy('--config-file none.toml')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('none.toml (ENOENT)'),
  });
  expect(await deploy('third --build-dir nowhere')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('directory nowhere does not exist'),
  });
});

test('without a deploy file, changes only the settings that are given as options', async () => {
  await deploy('--yes');
  await rm(join(folder, 'deploy.toml'));
  await deploy('my-bot --max-session-duration 90 --yes');
  expect(lastBody('updateAgent')).toEqual({
    region: 'us-west',
    maxSessionDuration: 90,
    buildId: service.builds[0]?.id,
  });
});

test('lists all problems of an invalid deploy file and sends no request', async () => {
  await put({ 'deploy.toml': 'agent_name = "my-bot"\nmin_agents = 1\nsecret_sets = "a"\n' });
  const { status, stderr } = await deploy('--yes');
  expect(status).toBe(1);
  expect(stderr).toContain('min_agents: belongs in the table scaling');
  expect(stderr).toContain('Did you mean secret_set?');
  expect(service.requests).toEqual([]);
});

test('rejects files that cannot be packed, and an empty project, without uploading anything', async () => {
  await symlink('/etc/passwd', join(folder, 'secrets'));
  expect(await deploy('--yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('secrets: is a link to an absolute path'),
  });
  await put({ '.gitignore': '*\n' });
  expect(await deploy('--yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('The project has no files to pack'),
  });
  expect(sentOperations()).not.toContain('getBuildUploadUrl');
});

test('warns about files that are probably packed by mistake', async () => {
  await put({ Dockerfile: 'FROM x' });
  await symlink('dist/bot.js', join(folder, 'latest'));
  await symlink('package.json', join(folder, 'same'));
  const { stderr } = await deploy('--dry-run');
  expect(stderr).toContain('warning: latest is a link to dist/bot.js, which is not packed.');
  expect(stderr).not.toContain('same is a link');
  expect(stderr).toContain('warning: The Dockerfile is not used');
});

test('does not warn about the Dockerfile of a generated project, and calls the path of the project a directory', async () => {
  await put({ 'server/deploy.toml': 'agent_name = "my-bot"\n', 'server/Dockerfile': generateDockerfile() });
  await rm(join(folder, 'deploy.toml'));
  const { status, stderr } = await deploy('--dry-run');
  expect(status).toBe(0);
  expect(stderr).toContain('Directory\tserver\n');
  expect(stderr).not.toContain('warning');
});

test('rejects an unknown region before anything is uploaded', async () => {
  expect(await deploy('--region moon --yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('Region "moon" does not exist.\nExisting regions: us-west'),
  });
  expect(sentOperations()).toEqual(['getAgent', 'listRegions']);
});

test('a deploy refuses to move an existing agent to another region', async () => {
  await deploy('--yes');
  expect(await deploy('--region eu-central --yes')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('cannot move to another region (eu-central)'),
  });
});

test('a deploy fails if a file changes after the preview, and uploads nothing', async () => {
  service.faults.onRequest = (request) => request === 'search' && writeFileSync(join(folder, 'bot.js'), '// 2');
  const changed = await deploy('--yes --json');
  expect(changed.status).toBe(1);
  expect(JSON.parse(changed.stdout).error).toMatchObject({ reason: 'project-changed' });
  expect(service.received()).toHaveLength(0);
  service.faults.onRequest = () => {};
  expect((await deploy('--yes')).status).toBe(0);
});

test('a deploy removes its archive, also if the upload fails', async () => {
  // This test has its own temporary directory, because other processes create archives in the system's temporary directory at the
  // same time.
  const temporary = join(folder, '.botcli');
  await mkdir(temporary);
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const seen: (readonly string[])[] = [];
  service.faults.onRequest = (request) => request === 'upload' && seen.push(readdirSync(temporary));
  service.faults.refuse = 'storage-full';
  expect((await deploy('--yes')).status).toBe(1);
  expect(await readdir(temporary)).toEqual([]);
  expect((await deploy('--yes')).status).toBe(0);
  expect(seen).toEqual([[expect.stringMatching(/^botcli-/)], [expect.stringMatching(/^botcli-/)]]);
  expect(await readdir(temporary)).toEqual([]);
});
