import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../run-program.ts';
import { cascadeBotOptions } from '../../scaffold/cascade-bot-options.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-project-'));
  await runProgram(['init', '.', '-n', 'demo', ...cascadeBotOptions], { directory });
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

test('project check finds no problem in a generated project with all variables set', async () => {
  const { status, stdout, stderr } = await check();
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(
    [
      'About\tState\tFinding',
      'server/.env\tgood\tall 3 required variables are set',
      'server/pyproject.toml\tgood\tthe pipecat-ai extras and the version bounds match the project configuration',
      'server/deploy.toml\tgood\tthe deploy file is valid',
      'generated files\tgood\t10 of 10 files were not edited\n',
    ].join('\n'),
  );
});

test('project check names empty and missing variables, and never shows values', async () => {
  await fill('DEEPGRAM_API_KEY=secret-1', 'OPENAI_API_KEY=', '# CARTESIA_API_KEY=x');
  const { status, stdout, stderr } = await check();
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('server/.env: OPENAI_API_KEY is empty or missing');
  expect(stderr).toContain('server/.env: CARTESIA_API_KEY is empty or missing');
  expect(stderr).not.toContain('DEEPGRAM');
  expect(stderr).not.toContain('secret');
});

test('project check reads files with a byte-order mark', async () => {
  const withoutMarks = (await check()).stdout.split('\n').slice(0, 4);
  for (const path of ['server/.env', 'server/pyproject.toml', 'server/deploy.toml', '.botcli/project.json']) {
    await change(path, /^/, '\u{feff}');
  }
  const { stdout, stderr } = await check();
  expect(stderr).toBe('');
  expect(stdout.split('\n').slice(0, 4)).toEqual(withoutMarks);
});

test('project check explains how to create a missing .env', async () => {
  await rm(join(directory, 'server/.env'));
  expect((await check()).stderr).toContain('copy .env.example');
});

test.each([
  ['server/pyproject.toml', /,deepgram/, '', 'lacks the extras deepgram'],
  ['server/pyproject.toml', />=1\.9\.0/, '>=1.8.0', 'the project needs at least 1.9.0'],
  ['server/pyproject.toml', /,<2/, '', 'the dependencies allow pipecat-ai 2'],
  ['server/pyproject.toml', />=3\.11/, '>=3.10', 'the project needs at least 3.11'],
  ['server/pyproject.toml', /pipecat-ai\[/, 'pipecat-ai-flows[', 'the dependencies do not include pipecat-ai'],
  ['server/pyproject.toml', /name = "demo"/, 'name = "OpenAI"', 'its name gives the Python project the name openai'],
  [
    'server/pyproject.toml',
    /name = "demo"/,
    'name = "pipecat_ai"',
    'the name pipecat-ai, which is the name of a package',
  ],
  ['server/deploy.toml', /agent_name = "demo"/, 'agent_name = "Demo Bot"', 'agent_name'],
  ['server/deploy.toml', /max_agents/, 'max_agnets', 'Did you mean max_agents'],
  ['server/deploy.toml', /"demo"/, '"demo', 'is not valid TOML'],
] as const)(
  'project check on the file %s with the text %s replaced by %j reports: %s',
  async (path, from, to, message) => {
    await change(path, from, to);
    const { status, stderr } = await check();
    expect(status).toBe(1);
    expect(stderr).toContain(message);
  },
);

test('project check reports a uv.lock that does not match the dependencies', async () => {
  const source = '[[package]]\nname = "demo"\nsource = { virtual = "." }\n[package.metadata]\n';
  const of = (extras: string) =>
    `requires-dist = [{ name = "pipecat-ai", extras = [${extras}], specifier = ">=1.9.0,<2" }]\n`;
  const lock = join(directory, 'server/uv.lock');
  await writeFile(lock, source + of('"cartesia", "deepgram", "openai", "runner", "silero", "webrtc"'));
  expect((await check()).stdout).toContain('server/uv.lock\tgood');
  await writeFile(lock, source + of('"cartesia", "openai", "runner", "silero", "webrtc"'));
  expect((await check()).stderr).toContain(
    'server/uv.lock: the lock file does not match the dependencies; to update it, run: uv lock',
  );
});

test('project check lists edited and removed files, but still exits with 0', async () => {
  await appendFile(join(directory, 'server/bot.py'), '# mine\n');
  await rm(join(directory, 'README.md'));
  const { status, stdout } = await check('--json');
  expect(status).toBe(0);
  expect(JSON.parse(stdout).findings.filter(({ state }: { state: string }) => state === 'edited')).toEqual([
    { about: 'README.md', state: 'edited', message: 'the file was removed' },
    { about: 'server/bot.py', state: 'edited', message: 'the file was edited' },
  ]);
});

test('project check lists edited files even if it reports problems', async () => {
  await appendFile(join(directory, 'server/bot.py'), '# mine\n');
  await change('server/deploy.toml', /agent_name = "demo"/, 'agent_name = "Demo Bot"');
  const { status, stderr } = await check();
  expect(status).toBe(1);
  expect(stderr).toContain('server/deploy.toml: agent_name: ');
  expect(stderr).toContain('Edited: server/bot.py, server/deploy.toml');
  expect(JSON.parse((await check('--json')).stdout).error.details.findings).toContainEqual({
    about: 'server/bot.py',
    state: 'edited',
    message: 'the file was edited',
  });
});

test.each([
  ['a missing file', null, 'is not a botcli project'],
  ['invalid JSON', '{', 'Cannot read'],
  ['a file of another program', '{"name": "x"}', 'was not written by botcli'],
  [
    'an unknown service',
    '{"generator": "botcli 9", "files": {}, "configuration": {"mode": "realtime"}}',
    'is not valid for this version of botcli',
  ],
])('project check refuses a directory with an unusable .botcli/project.json: %s', async (_what, text, message) => {
  const path = join(directory, '.botcli/project.json');
  if (text === null) await rm(path);
  else await writeFile(path, text);
  expect(await check()).toMatchObject({ status: 1, stderr: expect.stringContaining(message) });
});

describe('project check on the guides AGENTS.md and ASSISTANT.md', () => {
  const older = () => change('AGENTS.md', /botcli init \d+\.\d+\.\d+/, 'botcli init 0.0.9');
  const findings = async () => {
    const { status, stdout } = await check('--json');
    expect(status).toBe(0);
    const all: readonly { about: string; state: string }[] = JSON.parse(stdout).findings;
    return all.filter(({ state }) => state !== 'good');
  };

  test('reports edited and removed guides', async () => {
    await change('AGENTS.md', '# Building', '# Not building');
    await rm(join(directory, 'ASSISTANT.md'));
    expect(await findings()).toEqual([
      { about: 'AGENTS.md', state: 'edited', message: 'the guide was edited' },
      { about: 'ASSISTANT.md', state: 'edited', message: 'the file was removed' },
    ]);
    expect((await check()).stdout).toContain('generated files\tgood\t8 of 10 files were not edited\n');
  });

  test('reports a guide that an older version of botcli wrote, even if the project has problems', async () => {
    await older();
    const message = 'the guide was written by version 0.0.9; botcli project update replaces it';
    expect(await findings()).toEqual([{ about: 'AGENTS.md', state: 'outdated', message }]);
    await fill();
    expect((await check()).stderr).toContain('Written by an older version: AGENTS.md.');
  });

  test('reports that the command "botcli project update" does not replace an older guide that the user edited', async () => {
    await older();
    await change('AGENTS.md', '# Building', '# Not building');
    const message = 'the guide was written by version 0.0.9 and edited; botcli project update keeps it';
    expect(await findings()).toEqual([{ about: 'AGENTS.md', state: 'edited', message }]);
  });

  test('checks AGENTS.md and ASSISTANT.md even if .botcli/project.json does not list guides', async () => {
    const answers = JSON.parse(await readFile(join(directory, '.botcli/project.json'), 'utf8'));
    await writeFile(join(directory, '.botcli/project.json'), JSON.stringify({ ...answers, guides: undefined }));
    expect(await findings()).toEqual([]);
    await change('ASSISTANT.md', '@AGENTS.md', 'mine');
    expect(await findings()).toEqual([{ about: 'ASSISTANT.md', state: 'edited', message: 'the guide was edited' }]);
  });

  test('ignores a guide that a user wrote before the project was generated', async () => {
    await rm(join(directory, '.botcli'), { recursive: true });
    await writeFile(join(directory, 'ASSISTANT.md'), 'mine\n');
    await runProgram(['init', '.', '-n', 'demo', ...cascadeBotOptions], { directory });
    expect(await findings()).toEqual([]);
  });

  test('still reports edited guides after a second init with the same options', async () => {
    await change('AGENTS.md', '# Building', '# Not building');
    await change('ASSISTANT.md', '@AGENTS.md', 'mine');
    const again = await runProgram(['init', '.', '-n', 'demo', ...cascadeBotOptions, '--json'], { directory });
    expect(JSON.parse(again.stdout).written).toEqual([]);
    expect(await findings()).toHaveLength(2);
  });
});
