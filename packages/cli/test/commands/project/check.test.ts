import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../run-program.ts';
import { cascadeOptions } from '../../scaffold/cascade-options.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-project-'));
  await runProgram(['init', '.', '-n', 'demo', ...cascadeOptions], { directory });
  await fill('DEEPGRAM_API_KEY=secret-1', 'export OPENAI_API_KEY="secret-2"', 'CARTESIA_API_KEY=secret-3');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const fill = (...lines: readonly string[]) => writeFile(join(directory, 'server/.env'), lines.join('\n'));
const check = (...args: readonly string[]) => runProgram(['project', 'check', ...args], { directory });
const change = async (path: string, from: string | RegExp, to: string) => {
  const text = await readFile(join(directory, path), 'utf8');
  expect(text).toMatch(from);
  await writeFile(join(directory, path), text.replace(from, to));
};

test('a project as it was generated, with its variables filled, is good', async () => {
  const { status, stdout, stderr } = await check();
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(
    [
      'About\tState\tFinding',
      'server/.env\tgood\tall 3 variables are filled',
      'server/pyproject.toml\tgood\tversions and extras fit the choices',
      'server/deploy.toml\tgood\tcan be deployed',
      'generated files\tgood\t10 of 10 are as generated\n',
    ].join('\n'),
  );
});

test('empty and missing variables are named, and no value is ever shown', async () => {
  await fill('DEEPGRAM_API_KEY=secret-1', 'OPENAI_API_KEY=', '# CARTESIA_API_KEY=x');
  const { status, stdout, stderr } = await check();
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('server/.env: OPENAI_API_KEY is empty or missing');
  expect(stderr).toContain('server/.env: CARTESIA_API_KEY is empty or missing');
  expect(stderr).not.toContain('DEEPGRAM');
  expect(stderr).not.toContain('secret');
});

test('a project without a .env is told how to make one', async () => {
  await rm(join(directory, 'server/.env'));
  expect((await check()).stderr).toContain('copy .env.example');
});

test.each([
  ['server/pyproject.toml', /,deepgram/, '', 'lacks the extras deepgram'],
  ['server/pyproject.toml', />=1\.9\.0/, '>=1.8.0', 'these choices need 1.9.0'],
  ['server/pyproject.toml', /,<2/, '', 'admits pipecat-ai 2'],
  ['server/pyproject.toml', />=3\.11/, '>=3.10', 'these choices need 3.11'],
  ['server/pyproject.toml', /pipecat-ai\[/, 'pipecat-ai-flows[', 'does not depend on pipecat-ai'],
  ['server/deploy.toml', /agent_name = "demo"/, 'agent_name = "Demo Bot"', 'agent_name'],
  ['server/deploy.toml', /min_agents/, 'min_agnets', 'Did you mean min_agents'],
  ['server/deploy.toml', /"demo"/, '"demo', 'is not valid TOML'],
] as const)('%s with %s made %j: %s', async (path, from, to, says) => {
  await change(path, from, to);
  const { status, stderr } = await check();
  expect(status).toBe(1);
  expect(stderr).toContain(says);
});

test('a lock of uv that was made before a change is told: the service would install what it holds', async () => {
  const source = '[[package]]\nname = "demo"\nsource = { virtual = "." }\n[package.metadata]\n';
  const of = (extras: string) =>
    `requires-dist = [{ name = "pipecat-ai", extras = [${extras}], specifier = ">=1.9.0,<2" }]\n`;
  const lock = join(directory, 'server/uv.lock');
  await writeFile(lock, source + of('"cartesia", "deepgram", "openai", "runner", "silero", "webrtc"'));
  expect((await check()).stdout).toContain('server/uv.lock\tgood');
  await writeFile(lock, source + of('"cartesia", "openai", "runner", "silero", "webrtc"'));
  expect((await check()).stderr).toContain('server/uv.lock: was made for other dependencies: update it with uv lock');
});

test('edited and removed files are told, and are no problem', async () => {
  await appendFile(join(directory, 'server/bot.py'), '# mine\n');
  await rm(join(directory, 'README.md'));
  const { status, stdout } = await check('--json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout).findings.filter(({ state }: { state: string }) => state === 'edited')).toEqual([
    { about: 'README.md', state: 'edited', message: 'was removed' },
    { about: 'server/bot.py', state: 'edited', message: 'was edited' },
  ]);
});

test('what was edited is told beside what does not work', async () => {
  await appendFile(join(directory, 'server/bot.py'), '# mine\n');
  await change('server/deploy.toml', /agent_name = "demo"/, 'agent_name = "Demo Bot"');
  const { status, stderr } = await check();
  expect(status).toBe(1);
  expect(stderr).toContain('server/deploy.toml: agent_name: ');
  expect(stderr).toContain('Edited: server/bot.py, server/deploy.toml');
  expect(JSON.parse((await check('--json')).stdout).error.details.findings).toContainEqual({
    about: 'server/bot.py',
    state: 'edited',
    message: 'was edited',
  });
});

test.each([
  ['no answers', null, 'is not a botcli project'],
  ['no JSON', '{', 'cannot be read'],
  ['something else', '{"name": "x"}', 'is not what botcli wrote'],
  [
    'an unknown service',
    '{"generator": "botcli 9", "files": {}, "configuration": {"mode": "realtime"}}',
    'are no longer valid',
  ],
])('a directory with %s is refused', async (_what, text, says) => {
  const path = join(directory, '.botcli/project.json');
  if (text === null) await rm(path);
  else await writeFile(path, text);
  expect(await check()).toMatchObject({ status: 1, stderr: expect.stringContaining(says) });
});

describe('guides', () => {
  const older = () => change('AGENTS.md', /botcli init \d+\.\d+\.\d+/, 'botcli init 0.0.9');
  const findings = async () => {
    const { status, stdout } = await check('--json');
    expect(status).toBe(0);
    const all: readonly { about: string; state: string }[] = JSON.parse(stdout).findings;
    return all.filter(({ state }) => state !== 'good');
  };

  test('edited and removed ones are told like all generated files', async () => {
    await change('AGENTS.md', '# Building', '# Not building');
    await rm(join(directory, 'ASSISTANT.md'));
    expect(await findings()).toEqual([
      { about: 'AGENTS.md', state: 'edited', message: 'was edited' },
      { about: 'ASSISTANT.md', state: 'edited', message: 'was removed' },
    ]);
    expect((await check()).stdout).toContain('generated files\tgood\t8 of 10 are as generated\n');
  });

  test('one that an older version wrote is told, also beside what does not work', async () => {
    await older();
    const message = 'was written by version 0.0.9: botcli project update replaces it';
    expect(await findings()).toEqual([{ about: 'AGENTS.md', state: 'outdated', message }]);
    await fill();
    expect((await check()).stderr).toContain('Generated by an older version: AGENTS.md.');
  });

  test('one that was edited besides is kept by an update, and that is told', async () => {
    await older();
    await change('AGENTS.md', '# Building', '# Not building');
    const message = 'was written by version 0.0.9 and edited: botcli project update keeps it';
    expect(await findings()).toEqual([{ about: 'AGENTS.md', state: 'edited', message }]);
  });

  test('a project whose answers do not name its guides has those of every project', async () => {
    const answers = JSON.parse(await readFile(join(directory, '.botcli/project.json'), 'utf8'));
    await writeFile(join(directory, '.botcli/project.json'), JSON.stringify({ ...answers, guides: undefined }));
    expect(await findings()).toEqual([]);
    await change('ASSISTANT.md', '@AGENTS.md', 'mine');
    expect(await findings()).toEqual([{ about: 'ASSISTANT.md', state: 'edited', message: 'was edited' }]);
  });

  test('one that was there before the project, and is a person’s own, is none of it', async () => {
    await rm(join(directory, '.botcli'), { recursive: true });
    await writeFile(join(directory, 'ASSISTANT.md'), 'mine\n');
    await runProgram(['init', '.', '-n', 'demo', ...cascadeOptions], { directory });
    expect(await findings()).toEqual([]);
  });

  test('init once more with the same choices changes nothing, whatever became of them', async () => {
    await change('AGENTS.md', '# Building', '# Not building');
    await change('ASSISTANT.md', '@AGENTS.md', 'mine');
    const again = await runProgram(['init', '.', '-n', 'demo', ...cascadeOptions, '--json'], { directory });
    expect(JSON.parse(again.stdout).written).toEqual([]);
    expect(await findings()).toHaveLength(2);
  });
});
