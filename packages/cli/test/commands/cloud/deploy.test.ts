import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { InterruptedError } from '../../../src/failure.ts';
import { generateDockerfile } from '../../../src/scaffold/project/deployment.ts';
import { startFakeDeployService } from '../../fake-service/fake-deploy-service.ts';
import { useCommands } from '../use-commands.ts';

const deploy = useCommands('cloud deploy', startFakeDeployService);
const reads = ['getAgent', 'getDeployment'] as const;
const withSecrets = 'agent_name = "my-bot"\nsecret_set = "keys"\n';

beforeEach(() =>
  put({ 'deploy.toml': 'agent_name = "my-bot"\n', 'package.json': '{"main": "bot.js"}', 'bot.js': '// 1' }),
);

async function put(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(deploy.directory, path)), { recursive: true });
    await writeFile(join(deploy.directory, path), text);
  }
}

const remove = (path: string) => rm(join(deploy.directory, path));
const sentOperations = () => deploy.service.requests.map(({ operation }) => operation);
const lastBody = (operation: string) => deploy.service.requests.findLast((one) => one.operation === operation)?.body;
const latestBuildId = () => deploy.service.builds[0]?.id;

test('a first deploy shows the packed files, the changes, the build log and suggested commands', async () => {
  await put({ '.env': 'KEY=1', 'node_modules/a.js': 'x' });
  const { stdout, stderr } = await deploy.run('--yes', {});
  expect(stderr.split('\n')).toEqual([
    expect.stringMatching(/^Directory\t/),
    'Packed\t2 files, 22 B',
    'Largest\tpackage.json 18 B, bot.js 4 B',
    'Excluded\tFiles\tSize\tPaths',
    'always\t2\t27 B\tdeploy.toml, .env',
    'by default\t1\t1 B\tnode_modules',
    'Agent\tmy-bot (new)',
    `Service\t${deploy.service.origin}, region us-west`,
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
    `Talk to the bot\t${deploy.service.origin}/talk/my-bot (over WebSocket or WebRTC)`,
    'Show the logs\tbotcli cloud agent logs my-bot --follow',
    '',
  ]);
  const first = { serviceName: 'my-bot', region: 'us-west', buildId: latestBuildId() };
  expect(lastBody('createAgent')).toMatchObject(first);
});

test.each([
  [['websocket', 'lightrtc'], 'websocket', '', null],
  [['lightrtc', 'carrier1'], 'webrtc', '?transport=webrtc', null],
  [['carrier1'], null, null, 'Connect\tthrough carrier1; see the README of the project'],
  [['hostedrtc'], 'daily', null, null],
])(
  'suggests the commands and pages for talking to a generated bot with the transports %j',
  async (transports, transport, query, connect) => {
    await put({
      '.botcli/project.json': JSON.stringify({ configuration: { transports } }),
      'server/deploy.toml': 'agent_name = "my-bot"\n',
      'server/package.json': '{"main": "bot.js"}',
      'server/bot.js': '// 1',
    });
    await remove('deploy.toml');
    const { stdout } = await deploy.run('--yes');
    const start = transport === null ? null : `botcli cloud agent start my-bot --transport ${transport}`;
    const talkUrl = query === null ? null : `${deploy.service.origin}/talk/my-bot${query}`;
    const talk = [`Start a session\t${start}`, ...(talkUrl === null ? [] : [`Talk to the bot\t${talkUrl}`])];
    const next = stdout.split('\n').filter((line) => /^(Start|Talk|Connect)/.test(line));
    expect(next).toEqual(connect === null ? talk : [connect]);
    await deploy.run('--json', { json: { talkUrl, commands: { start } } });
  },
);

test('ignores the transports in .botcli/project.json of the current directory if --build-dir is another directory', async () => {
  await put({
    '.botcli/project.json': JSON.stringify({ configuration: { transports: ['carrier1'] } }),
    'other/package.json': '{"main": "bot.js"}',
    'other/bot.js': '// 1',
  });
  await deploy.run('--yes --build-dir other', { stdout: '(over WebSocket or WebRTC)' });
});

test('reports an unchanged project without an upload or a build, and deploys it again with --force', async () => {
  await deploy.run('--yes');
  const unchanged = { change: 'none', changes: [], deployment: { state: 'ready' } };
  await deploy.run('--json', { json: unchanged, requests: reads });
  await deploy.run('--dry-run', { stderr: 'Nothing would change.' });
  await deploy.run('--force', { stderr: 'Nothing changes', requests: [...reads, 'updateAgent', 'getDeployment'] });
  expect(lastBody('updateAgent')).toMatchObject({ forceRedeploy: true, buildId: latestBuildId() });
});

test('shows changed settings and reuses the existing build if the code is unchanged', async () => {
  await deploy.run('--yes');
  await put({ 'deploy.toml': 'agent_name = "my-bot"\n[scaling]\nmin_agents = 2\n' });
  const changes = [
    { key: 'scaling.min_agents', from: '0', to: '2' },
    { key: 'scaling.max_agents', from: '50', to: '9' },
  ];
  await deploy.run('--max-agents 9 --yes --json', {
    json: { changes },
    requests: [...reads, 'updateAgent', 'getDeployment'],
  });
  expect(lastBody('updateAgent')).toMatchObject({ autoScaling: { minAgents: 2, maxAgents: 9 } });
});

test('changes the conversation level without a build or a deployment, and keeps it if the deploy file has none', async () => {
  await deploy.run('--yes');
  await put({ 'deploy.toml': 'agent_name = "my-bot"\n[conversation]\nlevel = "transcript"\n' });
  await deploy.run('--yes --json', {
    json: { change: 'conversation', changes: [{ key: 'conversation.level', from: 'timings', to: 'transcript' }] },
    requests: [...reads, 'updateAgent', 'getDeployment'],
  });
  await put({ 'deploy.toml': 'agent_name = "my-bot"\n' });
  await deploy.run('--json', { json: { change: 'none' }, requests: reads });
  await deploy.run('--conversation-level off --yes', {
    stdout: 'Conversation level changed, without a new deployment. It holds for new sessions',
    stderr: 'conversation.level\ttranscript\t->\toff',
  });
  expect(lastBody('updateAgent')).toMatchObject({ conversation: { level: 'off' } });
});

test('changes what bots remove from conversations, and refuses a rule that could take very long', async () => {
  await deploy.run('--yes');
  const write = (rules: string) =>
    put({ 'deploy.toml': `agent_name = "my-bot"\n[conversation]\nredact = [${rules}]\n` });
  await write(`"card", '/C-\\d{6}/'`);
  await deploy.run('--yes --dry-run --json', {
    json: { changes: [{ key: 'conversation.redact', from: null, to: 'card, /C-\\d{6}/' }] },
  });
  await deploy.run('--yes');
  expect(lastBody('updateAgent')).toMatchObject({ conversation: { redact: ['card', '/C-\\d{6}/'] } });
  await write(`'/(a+)+b/'`);
  await deploy.run('--yes', { status: 1, stderr: 'it may take too long' });
});

test('removes the secret set from the agent after secret_set was removed from the deploy file', async () => {
  await put({ 'deploy.toml': withSecrets });
  await deploy.run('--yes');
  expect(lastBody('createAgent')).toMatchObject({ secretSet: 'keys' });
  await put({ 'deploy.toml': 'agent_name = "my-bot"\n' });
  await deploy.run('--yes --json', {
    json: { changes: [{ key: 'secret_set', from: 'keys', to: null }] },
    stderr: 'secret_set\tkeys\t->\t\n',
  });
  expect(lastBody('updateAgent')).toMatchObject({ secretSet: null });
  await deploy.run('--json', { json: { change: 'none' } });
});

test('assigns the secret set of --secrets to the agent, and keeps it in a later deploy without --secrets', async () => {
  await remove('deploy.toml');
  await deploy.run('my-bot --secrets keys --yes');
  expect(lastBody('createAgent')).toMatchObject({ secretSet: 'keys' });
  await deploy.run('my-bot --min-agents 1 --yes');
  expect(lastBody('updateAgent')).not.toHaveProperty('secretSet');
});

test('lists a newer revision of the secret set among the changes', async () => {
  await put({ 'deploy.toml': withSecrets });
  await deploy.run('--yes');
  const stale = { secretSet: 'keys', revision: 1, newestRevision: 3, stale: true };
  Object.assign(deploy.service.deployments[0] ?? {}, { secretRevisions: [stale] });
  const change = { key: 'secrets', from: 'revision 1', to: 'revision 3' };
  await deploy.run('--yes --json', { json: { change: 'deployment', changes: [change] } });
  Object.assign(deploy.service.deployments[0] ?? {}, { secretRevisions: [{ ...stale, newestRevision: null }] });
  await deploy.run('--dry-run --json', { json: { changes: [{ ...change, to: 'the set as it is now' }] } });
});

test('does not upload content that was built before', async () => {
  for (const text of ['// 1', '// 2', '// 1']) {
    await put({ 'bot.js': text });
    await deploy.run('--yes', {});
  }
  expect(sentOperations().filter((name) => name === 'getBuildUploadUrl')).toHaveLength(2);
  expect(lastBody('updateAgent')).toMatchObject({ buildId: deploy.service.builds[1]?.id });
});

test('asks for confirmation, and uploads nothing if the user declines or there is no terminal', async () => {
  const answer = (word: string | boolean) => ({ terminal: true, answers: [word] });
  await deploy.run('', { status: 1, stderr: '? Create the agent my-bot and deploy this?' }, answer(false));
  await deploy.run('', { status: 2, stderr: '--yes' });
  await deploy.run('', { status: 130 }, answer('ctrl-c'));
  expect(sentOperations()).not.toContain('getBuildUploadUrl');
  await deploy.run('', {}, answer(true));
});

test('a dry run shows what would change and changes nothing', async () => {
  await deploy.run('--dry-run --json', {
    json: { dryRun: true, agentName: 'my-bot', region: 'us-west', packed: { files: 2 } },
    requests: ['getAgent', 'getProperties'],
  });
});

test('resumes an interrupted upload in the same run of botcli, or in the next run if the first run failed', async () => {
  await put({ 'voice.bin': randomBytes(2_000_000) });
  deploy.service.faults.breaks = [100_000, 1_000, 0];
  await deploy.run('--yes', {});
  expect(sentOperations().filter((name) => name === 'getBuildUploadUrl')).toHaveLength(4);

  await put({ 'voice.bin': randomBytes(2_000_000) });
  // The connection breaks more often than the client retries, so the first deploy fails. The second deploy resumes the upload.
  deploy.service.faults.breaks = [70_000, ...Array.from({ length: 9 }, () => 0)];
  await deploy.run('--yes', { status: 1, stderr: 'was lost during the upload' });
  expect(deploy.service.received()).toHaveLength(70_000);
  await deploy.run('--yes', { stderr: 'Resuming an earlier upload' });
});

test('renews an expired upload token, and exits with 1 when the service rejects the upload', async () => {
  deploy.service.faults.refuse = 'upload-token-invalid';
  await deploy.run('--yes', {});
  await put({ 'bot.js': '// 2' });
  deploy.service.faults.refuse = 'storage-full';
  await deploy.run('--yes --json', { status: 1, json: { error: { reason: 'storage-full' } } });
});

test('uploads to the configured API URL if the host in the returned upload URL is unreachable', async () => {
  await put({ 'voice.bin': randomBytes(2_000_000) });
  deploy.service.faults.publicOrigin = 'http://127.0.0.1:1';
  await deploy.run('--yes', {});
});

test('retries its requests while the service is unavailable', async () => {
  deploy.service.faults.onRequest = () => {
    deploy.service.faults.hangUps = 3;
    deploy.service.faults.onRequest = () => {};
  };
  await deploy.run('--yes', {});
  expect(deploy.service.faults.hangUps).toBe(0);
});

test('Ctrl-C during an upload exits with 130, and the next run resumes the upload', async () => {
  await put({ 'voice.bin': randomBytes(1_000_000) });
  const interruption = new AbortController();
  deploy.service.faults.stalls = true;
  const running = deploy.run(
    '--yes',
    { status: 130, stderr: 'The uploaded part is kept' },
    { signal: interruption.signal },
  );
  await expect.poll(() => deploy.service.received().length).toBeGreaterThan(0);
  interruption.abort(new InterruptedError());
  await running;
  await deploy.run('--yes', { stderr: 'Resuming an earlier upload' });
});

test('after a lost response, repeats a deploy request only if the service did not execute the request', async () => {
  deploy.service.faults.losesWrites = 'after';
  await deploy.run('--yes', {});
  deploy.service.faults.losesWrites = 'before';
  await put({ 'bot.js': '// 2' });
  await deploy.run('--yes', {});
  expect(deploy.service.deployments).toHaveLength(2);
});

test('reports after Ctrl-C that the build or rollout continues in the service', async () => {
  const interruptAt = async (until: string, notice: string) => {
    const interruption = new AbortController();
    const before = deploy.service.requests.length;
    const running = deploy.run('--yes', { status: 130, stderr: notice }, { signal: interruption.signal });
    await expect.poll(() => sentOperations().slice(before), { interval: 1 }).toContain(until);
    interruption.abort(new InterruptedError());
    await running;
  };
  deploy.service.faults.log = Array.from({ length: 10_000 }, () => 'installing');
  await interruptAt('getBuildLogs', 'The build continues');
  deploy.service.faults.pollsUntilReady = 10_000;
  await interruptAt('getDeployment', 'The rollout continues');
});

test('measures the wait for a rollout with the monotonic clock, and exits with 1 after 600 s', async () => {
  deploy.service.faults.pollsUntilReady = 3;
  let clockMs = 0;
  const countSeconds = () => {
    clockMs += 1_000;
    return clockMs;
  };
  await deploy.run('--yes', { stdout: /Active after [1-9]\d*\.0 s/ }, { monotonicMs: countSeconds });

  await put({ 'bot.js': '// 2' });
  deploy.service.faults.pollsUntilReady = 10_000;
  const late = { status: 1, json: { error: { reason: 'rollout-timeout' } } };
  await deploy.run('--yes --json', late, { monotonicMs: () => 60 * countSeconds() });
});

test('exits with 1 if the build fails, prints the error of the build and deploys nothing', async () => {
  deploy.service.faults.buildFails = true;
  deploy.service.faults.log = ['error: \u001b[31mno\u001b[2J main'];
  const error = {
    reason: 'build-failed',
    error: expect.stringMatching(/failed: "npm ci" failed with status 1\.$/),
    issues: [{ message: 'npm error code E404' }],
    hint: expect.stringContaining('botcli cloud build logs'),
    details: { build: { status: 'failed' } },
  };
  await deploy.run('--yes --json', { status: 1, stderr: '  error: no main\n', json: { error } });
  deploy.service.builds.length = 0;
  const text = 'failed with status 1.\n  npm error code E404\nNothing was deployed.';
  await deploy.run('--yes', { status: 1, stderr: text });
  expect(sentOperations()).not.toContain('createAgent');
});

test('exits with 1 when the followed build is canceled, and deploys nothing', async () => {
  deploy.service.faults.buildIsCanceled = true;
  await deploy.run('--yes', { status: 1, stderr: /The build \S+ was canceled\.\n.*Nothing was deployed\./ });
  expect(deploy.service.deployments).toEqual([]);
});

test('shows on a terminal that a build is queued, then running', async () => {
  deploy.service.faults.waits = 1;
  const stderr = /Build is queued, 0 s[\s\S]*Building, 0 s[\s\S]*installing[\s\S]*done/;
  await deploy.run('--yes', { stderr }, { terminal: true });
});

test('shows the time since the start of a build that an earlier run of botcli started', async () => {
  deploy.service.faults.startedAt = '2026-11-20T16:58:00.000Z';
  const now = new Date('2026-11-20T17:00:00.000Z');
  const expected = { stderr: /Building, 120 s[\s\S]*installing/, hides: /queued|Waiting/ };
  await deploy.run('--yes', expected, { terminal: true, now });
});

test('exits with 1 when a bot does not start, and shows its last output and the deployment that keeps serving', async () => {
  await deploy.run('--yes');
  const serving = deploy.service.deployments[0]?.id;
  await put({ 'bot.js': 'throw 1' });
  deploy.service.faults.fails = {
    code: 'PCC_BOT_EXITED',
    message: 'The bot exited with code 1 before it was ready.',
    exitCode: 1,
    signal: null,
    outOfMemory: false,
    tail: 'Trace:\n\u001b[2Jbot.js:1\n',
  };
  await deploy.run('--yes', {
    status: 1,
    wholeStdout: '',
    stderr: [
      'exited with code 1 before it was ready.',
      `The deployment ${serving} keeps serving`,
      '\n  Trace:\n  bot.js:1\n',
    ],
  });
  // Without --force, deploy does not retry a failed deployment. The hint must end with the command, so that users can copy it.
  const hint = /^Nothing has changed since then. .* To show its logs, run: botcli .* --deployment \S+$/;
  const details = { servingDeploymentId: serving };
  const error = { reason: 'deployment-failed', hint: expect.stringMatching(hint), details };
  await deploy.run('--yes --json', { status: 1, json: { error } });
  deploy.service.faults.fails = null;
  await deploy.run('--force', {});
});

test('reports that a failed bot printed nothing, and suggests no command for logs', async () => {
  const silent = { exitCode: 0, signal: null, outOfMemory: false, tail: '', message: 'It exited with status 0.' };
  deploy.service.faults.fails = { ...silent, code: 'PCC_BOT_EXITED' };
  const stderr = / No deployment of the agent is active\.\nThe bot wrote no output\.\n$/;
  await deploy.run('--yes', { status: 1, stderr });
  // If preparing the deployment fails, the bot never runs, so the missing output must not be reported.
  deploy.service.faults.fails = { ...silent, code: 'PCC_PREPARE_FAILED', exitCode: null };
  await deploy.run('--force', { status: 1, hides: 'The bot wrote no output' });
});

test('waits for the rollout and shows its phases, unless --no-wait is given', async () => {
  deploy.service.faults.pollsUntilReady = 5;
  await deploy.run('--yes', { stderr: 'Preparing\nStarting the first instance\n', stdout: 'Result\tActive' });
  await put({ 'bot.js': '// 2' });
  await deploy.run('--yes --no-wait', { stdout: 'Accepted, not ready yet (preparing)' });
  deploy.service.faults.live = 3;
  await put({ 'bot.js': '// 3' });
  await deploy.run('--yes', { stderr: '3 live sessions stay on the current version' });
});

test('shows the rollout status in full on a narrow terminal', async () => {
  deploy.service.faults.pollsUntilReady = 5;
  const narrow = { terminal: true, columns: 60 };
  const phases = [/\d+ s: Preparing; none is active yet\r/, /\d+ s: Starting the first instance; none is active yet\r/];
  await deploy.run('--yes', { stderr: phases }, narrow);
  await put({ 'bot.js': '// 2' });
  await deploy.run('--yes', { stderr: /\d+ s: Starting the first instance; previous one is active\r/ }, narrow);
});

test('--build-id deploys an existing build without packing, and rejects a failed, unfinished or unknown build', async () => {
  await deploy.run('--yes');
  await put({ 'bot.js': '// 2' });
  deploy.service.faults.buildFails = true;
  await deploy.run('--yes');
  const [failed, good] = deploy.service.builds;
  await deploy.run(`--build-id ${failed?.id} --yes`, { status: 1, stderr: 'failed' });
  await deploy.run(`--build-id ${good?.id} --yes`, {});
  await deploy.run(`--build-id ${good?.id} --build-dir . --yes`, { status: 2 });
  await deploy.run('--build-id unknown --yes', { status: 1, stderr: 'Build "unknown" does not exist.' });
  Object.assign(good ?? {}, { status: 'building' });
  const unfinished = { status: 1, stderr: `The build ${good?.id} has not ended yet.` };
  await deploy.run(`--build-id ${good?.id} --yes`, unfinished);
});

test('--build-dir takes precedence over build_id in the deploy file', async () => {
  await deploy.run('--yes');
  await put({ 'deploy.toml': `agent_name = "my-bot"\nbuild_id = "${latestBuildId()}"\n`, 'server/bot.py': 'x' });
  await deploy.run('--dry-run --json', { json: { packed: null } });
  await deploy.run('--build-dir server --dry-run --json', { json: { packed: { files: 1 } } });
});

test('finds a deploy file in server/ with the name pcc-deploy.toml, or at the path in --config-file', async () => {
  await remove('deploy.toml');
  await deploy.run('--yes', { status: 2, stderr: 'agent_name = "my-bot"' });
  await put({ 'server/pcc-deploy.toml': 'agent_name = "my-bot"\n', 'server/bot.py': 'x' });
  await deploy.run('--dry-run --json', { json: { packed: { files: 1 } } });
  await put({ 'other/x.toml': 'agent_name = "other"\n[build]\ncontext_dir = "../server"\n' });
  const other = { agentName: 'other', packed: { files: 1 } };
  await deploy.run('--config-file other/x.toml --dry-run --json', { json: other });
  await deploy.run('third --build-dir server --dry-run --json', { json: { agentName: 'third' } });
  await deploy.run('--config-file none.toml', { status: 1, stderr: 'none.toml (ENOENT)' });
  await deploy.run('third --build-dir nowhere', { status: 1, stderr: 'directory nowhere does not exist' });
});

test('without a deploy file, changes only the settings that are given as options', async () => {
  await deploy.run('--yes');
  await remove('deploy.toml');
  await deploy.run('my-bot --max-session-duration 90 --yes');
  const body = { region: 'us-west', maxSessionDuration: 90, buildId: latestBuildId() };
  expect(lastBody('updateAgent')).toEqual(body);
});

test('lists all problems of an invalid deploy file and sends no request', async () => {
  await put({ 'deploy.toml': 'agent_name = "my-bot"\nmin_agents = 1\nsecret_sets = "a"\n' });
  const problems = ['min_agents: belongs in the table scaling', 'Did you mean secret_set?'];
  await deploy.run('--yes', { status: 1, stderr: problems, requests: [] });
});

test('rejects files that cannot be packed, and an empty project, without uploading anything', async () => {
  await symlink('/etc/passwd', join(deploy.directory, 'secrets'));
  await deploy.run('--yes', { status: 1, stderr: 'secrets: is a link to an absolute path' });
  await put({ '.gitignore': '*\n' });
  await deploy.run('--yes', { status: 1, stderr: 'The project has no files to pack' });
  expect(sentOperations()).not.toContain('getBuildUploadUrl');
});

test('warns about files that are probably packed by mistake', async () => {
  await put({ Dockerfile: 'FROM x' });
  await symlink('dist/bot.js', join(deploy.directory, 'latest'));
  await symlink('package.json', join(deploy.directory, 'same'));
  await deploy.run('--dry-run', {
    stderr: ['warning: latest is a link to dist/bot.js, which is not packed.', 'warning: The Dockerfile is not used'],
    hides: 'same is a link',
  });
});

test('does not warn about the Dockerfile of a generated project, and calls the path of the project a directory', async () => {
  await put({ 'server/deploy.toml': 'agent_name = "my-bot"\n', 'server/Dockerfile': generateDockerfile() });
  await remove('deploy.toml');
  await deploy.run('--dry-run', { stderr: 'Directory\tserver\n', hides: 'warning' });
});

test('rejects an unknown region, and another region than the one of an existing agent, before it uploads', async () => {
  const stderr = 'Region "moon" does not exist.\nExisting regions: us-west';
  await deploy.run('--region moon --yes', { status: 1, stderr, requests: ['getAgent', 'listRegions'] });
  await deploy.run('--yes');
  const moved = { status: 1, stderr: 'cannot move to another region (eu-central)', requests: reads };
  await deploy.run('--region eu-central --yes', moved);
});

test('fails if a file changes after the preview, and uploads nothing', async () => {
  deploy.service.faults.onRequest = (request) =>
    request === 'search' && writeFileSync(join(deploy.directory, 'bot.js'), '// 2');
  await deploy.run('--yes --json', { status: 1, json: { error: { reason: 'project-changed' } } });
  expect(deploy.service.received()).toHaveLength(0);
  deploy.service.faults.onRequest = () => {};
  await deploy.run('--yes', {});
});

test('removes its archive, also if the upload fails', async () => {
  // This test has its own temporary directory, because other processes create archives in the system's temporary directory at the
  // same time.
  const temporary = join(deploy.directory, '.botcli');
  await mkdir(temporary);
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const seen: (readonly string[])[] = [];
  deploy.service.faults.onRequest = (request) => request === 'upload' && seen.push(readdirSync(temporary));
  deploy.service.faults.refuse = 'storage-full';
  await deploy.run('--yes', { status: 1 });
  expect(await readdir(temporary)).toEqual([]);
  await deploy.run('--yes', {});
  expect(seen).toEqual([[expect.stringMatching(/^botcli-/)], [expect.stringMatching(/^botcli-/)]]);
  expect(await readdir(temporary)).toEqual([]);
});
