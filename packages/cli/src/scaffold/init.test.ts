import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunOptions, runProgram } from '../../test/run-program.ts';
import { cascadeBotOptions } from '../../test/scaffold/cascade-bot-options.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-init-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const botcli = (args: readonly string[], given: RunOptions = {}) => runProgram(args, { directory, ...given });
const read = (path: string) => readFile(join(directory, path), 'utf8');

async function tree(): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

const cascadeFiles = [
  '.botcli/project.json',
  '.gitignore',
  'AGENTS.md',
  'ASSISTANT.md',
  'README.md',
  'server/.dockerignore',
  'server/.env.example',
  'server/Dockerfile',
  'server/bot.py',
  'server/deploy.toml',
  'server/pyproject.toml',
];

describe('init with options', () => {
  test("accepts the API name or Pipecat's name of a transport, and shows both names", async () => {
    const services = cascadeBotOptions.slice(2);
    const configurationFor = async (...names: readonly string[]) => {
      const transports = names.flatMap((name) => ['-t', name]);
      return JSON.parse((await botcli(['init', 'demo', ...transports, ...services, '--dry-run'])).stdout);
    };
    const configuration = await configurationFor('lightrtc', 'hostedrtc', 'carrier1');
    expect(configuration.transports).toEqual(['lightrtc', 'hostedrtc', 'carrier1']);
    expect(await configurationFor('smallwebrtc', 'daily', 'twilio')).toEqual(configuration);
    const names = 'smallwebrtc (lightrtc), daily (hostedrtc), twilio (carrier1)';
    const shown = ['-t', 'lightrtc', '-t', 'hostedrtc', '-t', 'carrier1'];
    expect((await botcli(['init', 'demo', ...shown, ...services])).stdout).toContain(names);
    const readme = await read('demo/README.md');
    for (const name of names.split(', ')) expect(readme).toContain(`| Transport | \`${name}\`: `);
    const { stderr } = await botcli(['init', 'other', '-t', 'webrtc', ...services]);
    expect(stderr).toContain(
      '"webrtc" is unknown. --transport takes daily (hostedrtc), livekit, smallwebrtc (lightrtc), ',
    );
  });

  test.each([
    ['deepgram', 'stt', 'Did you mean deepgram_stt?'],
    ['open-ai', 'llm', 'Did you mean openai_llm?'],
    ['cartesia_stt', 'tts', 'Did you mean cartesia_tts?'],
    ['depgram_stt', 'stt', 'Did you mean deepgram_stt?'],
    ['aws', 'stt', 'Did you mean aws_transcribe_stt?'],
    ['nobody', 'stt', '"nobody" is unknown: --stt takes one of assemblyai_stt, '],
  ])('rejects the value %s of the option --%s with the message: %s', async (value, kind, message) => {
    const options = cascadeBotOptions.with(cascadeBotOptions.indexOf(`--${kind}`) + 1, value);
    const { status, stderr } = await botcli(['init', 'demo', ...options]);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) });
  });

  test('creates the directory and names the project after it', async () => {
    const { status, stdout, stderr } = await botcli(['init', 'demo', ...cascadeBotOptions, '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(await tree()).toEqual(cascadeFiles.map((path) => `demo/${path}`));
    expect(JSON.parse(stdout)).toMatchObject({
      directory: join(directory, 'demo'),
      written: cascadeFiles,
      configuration: { project_name: 'demo' },
    });
  });

  test('writes to the current directory if no directory is given, and keeps other files', async () => {
    await writeFile(join(directory, 'notes.txt'), 'mine');
    expect((await botcli(['init', ...cascadeBotOptions, '--name', 'Front Desk'])).status).toBe(0);
    expect(await tree()).toEqual([...cascadeFiles, 'notes.txt'].sort());
    expect(await read('server/deploy.toml')).toContain('agent_name = "front-desk"');
  });

  test('writes files for evaluations and for a deployment only if requested', async () => {
    await botcli(['init', 'demo', ...cascadeBotOptions, '--no-deploy-to-cloud', '--eval']);
    const paths = await tree();
    expect(paths).toContain('demo/server/evals/text.yaml');
    expect(paths).not.toContain('demo/server/Dockerfile');
    expect(paths).not.toContain('demo/GETTING_STARTED.md');
  });

  test('prints next steps about evaluations and phone calls only if the project has them', async () => {
    const chosen = [...cascadeBotOptions, '-t', 'carrier1', '--eval'];
    const { stdout } = await botcli(['init', 'two words', ...chosen]);
    expect(stdout).toContain(`cd '${join(directory, 'two words/server')}'\n`);
    expect(stdout).toContain('uv run --group evals pipecat eval run evals/text.yaml');
    expect(stdout).toContain('To connect calls to the bot, follow README.md');
    expect((await botcli(['init', 'demo', ...cascadeBotOptions])).stdout).not.toMatch(/eval|call/);
  });

  test('reports a transport that the client cannot use, as text and as JSON', async () => {
    const chosen = [...cascadeBotOptions, '-t', 'livekit', '--client-framework', 'vanilla'];
    const { stderr } = await botcli(['init', 'demo', ...chosen]);
    expect(stderr).toContain('The client does not offer livekit: its Pipecat client package is not published.');
    const notes = async (...args: readonly string[]) =>
      JSON.parse((await botcli(['init', ...args, '--json'])).stdout).notes;
    expect(await notes('other', ...chosen)).toEqual([expect.stringContaining('livekit-client')]);
    expect(await notes('third', ...cascadeBotOptions, '-t', 'livekit')).toEqual([]);
    expect(await notes('fourth', ...cascadeBotOptions, '--client-framework', 'react')).toEqual([]);
  });

  test('reports all missing and invalid options at once and writes nothing', async () => {
    const { status, stdout, stderr } = await botcli(['init', 'demo', '--stt', 'nobody', '-m', 'cascade']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    for (const path of ['transports', 'stt_service', 'llm_service', 'tts_service'])
      expect(stderr).toContain(`  ${path}: `);
    expect(await tree()).toEqual([]);
  });

  test.each([
    '--recording',
    '--no-recording',
    '--dry-run',
    '--eval',
    '--client-framework=react',
    '--daily-pstn-mode=dial-in',
  ])('asks no questions and reports missing options if only the option %s is given', async (option) => {
    expect(await botcli(['init', 'demo', option])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('transports'),
    });
    expect(await tree()).toEqual([]);
  });

  test('lets options override the config file, including --no- options', async () => {
    await writeFile(
      join(directory, 'answers.json'),
      JSON.stringify({
        transports: ['lightrtc'],
        mode: 'realtime',
        realtime: 'openai_realtime',
        eval: true,
        name: 'file',
      }),
    );
    const { stdout } = await botcli(['init', 'x1', '-c', 'answers.json', '--no-eval', '-n', 'option', '--dry-run']);
    expect(JSON.parse(stdout)).toMatchObject({ project_name: 'option', enable_eval: false, mode: 'realtime' });
  });

  test.each([
    ['does not exist', 'nowhere.json', 'it does not exist'],
    ['is a directory', '.', 'it is a directory'],
  ])('refuses a config file that %s', async (_what, file, says) => {
    expect(await botcli(['init', 'demo', '--config', file])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(says),
    });
  });
});

describe('init --dry-run', () => {
  test('prints only the resolved configuration in every output mode', async () => {
    const plain = await botcli(['init', 'demo', ...cascadeBotOptions, '--dry-run']);
    expect(plain).toMatchObject({ status: 0, stderr: '' });
    expect((await botcli(['init', 'demo', ...cascadeBotOptions, '--dry-run', '--json'])).stdout).toBe(plain.stdout);
    expect((await botcli(['init', 'demo', ...cascadeBotOptions, '--dry-run', '--output', 'rich'])).stdout).toBe(
      plain.stdout,
    );
    expect(plain.stdout).toBe(`${JSON.stringify(JSON.parse(plain.stdout), null, 2)}\n`);
    expect(await tree()).toEqual([]);
  });

  test('writes nothing with the argument `quickstart`', async () => {
    const { status, stdout } = await botcli(['init', 'quickstart', '--dry-run', '--overwrite-guide']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      project_name: 'botcli-quickstart',
      transports: ['lightrtc', 'hostedrtc'],
    });
    expect(await tree()).toEqual([]);
  });
});

test('init --list-options prints the list regardless of all other options', async () => {
  const { status, stdout } = await botcli(['init', 'quickstart', '--mode', 'x', '--list-options']);
  expect(status).toBe(0);
  expect(Object.keys(JSON.parse(stdout))).toEqual(['bot_type', 'transports', 'stt', 'llm', 'tts', 'realtime', 'video']);
});

describe('init quickstart', () => {
  test('writes to ./botcli-quickstart', async () => {
    expect((await botcli(['init', 'quickstart'])).status).toBe(0);
    expect(await tree()).toEqual(cascadeFiles.map((path) => `botcli-quickstart/${path}`));
    expect(await read('botcli-quickstart/README.md')).toContain('pipecat context-hub install');
  });

  test.each([['--eval'], ['--no-recording'], ['-n', 'x'], ['-c', 'x.json']])(
    'refuses the option %s',
    async (...option) => {
      expect(await botcli(['init', 'quickstart', ...option])).toMatchObject({ status: 2, stdout: '' });
      expect(await tree()).toEqual([]);
    },
  );

  test('treats the argument ./quickstart as the directory of a project with the given options', async () => {
    await botcli(['init', './quickstart', ...cascadeBotOptions]);
    expect(await tree()).toContain('quickstart/server/bot.py');
  });
});

describe('init quickstart --local', () => {
  const local = ['init', 'quickstart', '--local'];
  const downloads = [
    /^This bot needs no keys, .* It downloads \d\.\d GB, once:$/m,
    /^ {2}Python packages +\d+ MB {2}with "uv sync"$/m,
    /^ {2}Moonshine \(local\) +142 MB {2}when the bot first starts$/m,
    /^ {2}Ollama \(local\) +2\.0 GB {2}with "ollama pull llama3\.2" \(install it from https:\/\/ollama\.com\)$/m,
    /^ {2}Kokoro \(local\) +354 MB {2}when the bot first starts$/m,
  ];

  test('says what the bot downloads and how large it is, and writes nothing if the user declines', async () => {
    const { status, stderr } = await botcli(local, { terminal: true, answers: [false] });
    expect(status).toBe(1);
    for (const line of downloads) expect(stderr).toMatch(line);
    expect(stderr).toContain('Nothing was written.');
    expect(await tree()).toEqual([]);
  });

  test('writes nothing without a terminal, and names the option that confirms', async () => {
    expect(await botcli(local)).toMatchObject({ status: 2, stderr: expect.stringContaining('--yes') });
    expect(await tree()).toEqual([]);
  });

  test.each([
    ['--yes', { terminal: false }],
    ['--json', { terminal: true, answers: [true] }],
  ])('creates a bot without keys and says what it downloads, with %s', async (option, options) => {
    const { status, stderr } = await botcli([...local, option], options);
    expect({ status, stderr }).toMatchObject({ status: 0 });
    for (const line of downloads) expect(stderr).toMatch(line);
    expect(await read('botcli-quickstart/server/.env.example')).not.toMatch(/^\w+=/m);
    expect(await tree()).not.toContain('botcli-quickstart/server/deploy.toml');
    expect(await read('botcli-quickstart/README.md')).toContain(
      'needs a model (2.0 GB) that "ollama pull llama3.2" downloads',
    );
  });

  test('names the command that downloads the language model as the first step', async () => {
    const { stdout } = await botcli([...local, '--yes']);
    expect(stdout).toMatch(/^Next\tollama pull llama3\.2\nNext\tcd /m);
    expect(stdout).toContain('all settings are optional');
  });

  test('is refused for a project that is not the quickstart', async () => {
    const { status, stderr } = await botcli(['init', 'demo', '--local', ...cascadeBotOptions]);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('botcli init quickstart --local'),
    });
    expect(await tree()).toEqual([]);
  });
});

describe('existing files in the target', () => {
  test('are not changed when the same init command runs again', async () => {
    await botcli(['init', 'demo', ...cascadeBotOptions]);
    const { status, stdout } = await botcli(['init', 'demo', ...cascadeBotOptions, '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).written).toEqual([]);
  });

  test('are all listed if they differ, and nothing is written', async () => {
    await mkdir(join(directory, 'server'));
    await writeFile(join(directory, 'README.md'), 'mine');
    await writeFile(join(directory, 'server/bot.py'), 'mine');
    const { status, stderr } = await botcli(['init', '.', ...cascadeBotOptions, '-n', 'demo']);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /README\.md: the file already exists with different content\n {2}server\/bot\.py: the file already exists with different content/,
    );
    expect(stderr).toContain('--force');
    expect(await tree()).toEqual(['README.md', 'server/bot.py']);
    expect(await read('README.md')).toBe('mine');
  });

  test('are overwritten with --force, except an AGENTS.md that the user wrote', async () => {
    await writeFile(join(directory, 'README.md'), 'mine');
    await writeFile(join(directory, 'AGENTS.md'), 'mine');
    expect(await botcli(['init', '.', ...cascadeBotOptions, '-n', 'demo', '--force'])).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('AGENTS.md is your own'),
    });
    expect(await read('README.md')).toContain('# demo');
    expect(await read('AGENTS.md')).toBe('mine');
    expect(await tree()).toEqual(cascadeFiles);
  });

  test('are not followed or removed if they are links, even with --force', async () => {
    await mkdir(join(directory, 'elsewhere'));
    await mkdir(join(directory, 'demo'));
    await symlink(join(directory, 'elsewhere'), join(directory, 'demo/server'));
    await symlink(join(directory, 'gone'), join(directory, 'demo/README.md'));
    const { status, stderr } = await botcli(['init', 'demo', ...cascadeBotOptions, '--force']);
    expect(status).toBe(1);
    expect(stderr).toContain('server/bot.py: server is not a directory');
    expect(stderr).toContain('README.md: this path is a link');
    expect(await tree()).toEqual(['demo/README.md', 'demo/server']);
    expect(await readdir(join(directory, 'elsewhere'))).toEqual([]);
  });
});

test('init reports a directory at the path of a new file as a conflict', async () => {
  await mkdir(join(directory, 'demo/AGENTS.md'), { recursive: true });
  expect(await botcli(['init', 'demo', ...cascadeBotOptions, '--overwrite-guide'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('AGENTS.md: this path is a directory'),
  });
  expect(await tree()).toEqual([]);
});

describe('init refuses a target that', () => {
  test('is a file', async () => {
    await writeFile(join(directory, 'demo'), 'mine');
    expect(await botcli(['init', 'demo', ...cascadeBotOptions])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is a file'),
    });
    expect(await read('demo')).toBe('mine');
  });

  test('is in a directory without write permission', async () => {
    // Use /sys, because even root, who ignores file modes, cannot create a directory in it.
    const isRoot = process.getuid?.() === 0;
    const closed = isRoot ? '/sys' : join(directory, 'closed');
    if (!isRoot) await mkdir(closed, { mode: 0o500 });
    expect(await botcli(['init', join(closed, 'demo'), ...cascadeBotOptions])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`there is no permission to write there (${closed}/demo). Nothing was written.`),
    });
    expect(await tree()).toEqual([]);
  });

  test('is on a read-only file system', async () => {
    const { status, stderr } = await botcli(['init', '/proc/botcli/demo', ...cascadeBotOptions]);
    expect(status).toBe(1);
    expect(stderr).toContain('Nothing was written');
  });
});

describe('init without options', () => {
  test('writes AGENTS.md and other guides to the given directory if there is no terminal', async () => {
    const { status, stdout } = await botcli(['init', 'demo', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).written).toEqual(['AGENTS.md', 'ASSISTANT.md', 'GETTING_STARTED.md']);
  });

  test('keeps an AGENTS.md of an older version if there is no terminal to ask, and prints how to replace it', async () => {
    await botcli(['init', 'demo']);
    const older = (await read('demo/AGENTS.md')).replace(/botcli init \d+\.\d+\.\d+/, 'botcli init 0.0.9');
    await writeFile(join(directory, 'demo/AGENTS.md'), older);
    const { stderr } = await botcli(['init', 'demo']);
    expect(stderr).toMatch(/AGENTS\.md was written by version 0\.0\.9 and was kept\. --overwrite-guide/);
    expect(await read('demo/AGENTS.md')).toBe(older);
    await botcli(['init', 'demo', '--overwrite-guide']);
    expect(await read('demo/AGENTS.md')).not.toContain('botcli init 0.0.9');
  });

  test('does not report an AGENTS.md of a newer version as outdated', async () => {
    await botcli(['init', 'demo']);
    const newer = (await read('demo/AGENTS.md')).replace(/botcli init \d+\.\d+\.\d+/, 'botcli init 99.0.0');
    await writeFile(join(directory, 'demo/AGENTS.md'), newer);
    expect((await botcli(['init', 'demo'])).stderr).toBe('');
  });
});

describe('init with questions', () => {
  const wizard = [
    'wizard',
    'My Bot',
    'web',
    'none',
    'lightrtc',
    'hostedrtc',
    'cascade',
    'deepgram_stt',
    'openai_llm',
    'cartesia_tts',
  ];

  test('fails if there is no terminal and no directory is given', async () => {
    expect(await botcli(['init'])).toMatchObject({ status: 2, stderr: expect.stringContaining('no terminal') });
  });

  test('creates the recommended bot if the user only presses Enter', async () => {
    const answers = ['', 'recommended'];
    const { status, stdout } = await botcli(['init'], { terminal: true, answers });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('smallwebrtc (lightrtc)') });
    expect(JSON.parse(await read('voice-bot/.botcli/project.json')).configuration).toMatchObject({
      project_name: 'voice-bot',
      transports: ['lightrtc'],
      stt_service: 'deepgram_stt',
      llm_service: 'openai_responses_llm',
      tts_service: 'cartesia_tts',
      deploy_to_cloud: true,
    });
    expect(await tree()).toContain('voice-bot/server/bot.py');
  });

  test('creates no files for the recommended bot if the name of the directory is not a valid project name', async () => {
    const outcome = await botcli(['init', '机器人'], { terminal: true, answers: ['recommended'] });
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining('project_name: "机器人" needs') });
    expect(await tree()).toEqual([]);
  });

  test('ends with a summary that shows labels instead of configuration keys', async () => {
    const answers = [...wizard, ['deploy_to_cloud', 'enable_eval'], 'create'];
    const { stderr } = await botcli(['init', 'demo'], { terminal: true, answers });
    const summary = stderr.slice(stderr.indexOf('Create this project?'));
    expect(summary).toMatch(/^ {2}Transports +smallwebrtc \(lightrtc\), daily \(hostedrtc\)$/m);
    expect(summary).toMatch(/^ {2}Speech to text +Deepgram$/m);
    expect(summary).toMatch(/^ {2}Features +Files for a deployment on the service, Evaluations$/m);
    expect(summary).not.toMatch(/_|\byes\b/);
  });

  test('creates a project with the chosen features', async () => {
    const answers = ['demo', ...wizard, ['deploy_to_cloud', 'enable_eval'], 'create'];
    expect((await botcli(['init'], { terminal: true, answers })).status).toBe(0);
    expect(JSON.parse(await read('demo/.botcli/project.json'))).toMatchObject({
      configuration: {
        project_name: 'My Bot',
        transports: ['lightrtc', 'hostedrtc'],
        enable_eval: true,
        recording: false,
      },
    });
    expect(await tree()).not.toContain('demo/GETTING_STARTED.md');
  });

  test('requires another transport for the client if the chosen transport is livekit', async () => {
    const before = ['wizard', 'My Bot', 'web', 'vanilla', 'livekit'];
    const answers = [...before, 'lightrtc', ...wizard.slice(6), [], 'create'];
    const { status, stderr } = await botcli(['init', 'demo'], { terminal: true, answers });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('does the client use?') });
    const alone = await botcli(['init', 'other'], { terminal: true, answers: [...before, 'none'] });
    expect(alone).toMatchObject({ status: 1, stderr: expect.stringContaining('does not offer none') });
  });

  test('uses the new answers after the user went back to earlier questions', async () => {
    const answers = [
      'wizard',
      'My Bot',
      'telephony',
      '(back)',
      'web',
      'react',
      '(back)',
      'none',
      ...wizard.slice(4),
      [],
      '(back)',
    ];
    const outcome = await botcli(['init', 'demo'], {
      terminal: true,
      answers: [...answers.slice(0, -1), 'back', [], 'create'],
    });
    expect(outcome.status).toBe(0);
    expect(JSON.parse(await read('demo/.botcli/project.json')).configuration).toMatchObject({
      bot_type: 'web',
      generate_client: false,
      deploy_to_cloud: false,
    });
  });

  test('returns to the previous question if Back is one of several selected choices', async () => {
    const answers = [...wizard, ['deploy_to_cloud', '(back)'], 'cartesia_tts', [], 'create'];
    expect((await botcli(['init', 'demo'], { terminal: true, answers })).status).toBe(0);
    expect(JSON.parse(await read('demo/.botcli/project.json')).configuration).toMatchObject({
      tts_service: 'cartesia_tts',
      deploy_to_cloud: false,
    });
  });

  test('fails before its questions if an existing file would conflict regardless of the answers', async () => {
    await writeFile(join(directory, 'README.md'), '# mine\n');
    const { status, stderr } = await botcli(['init', '.'], { terminal: true, answers: ['wizard'] });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('README.md: the file already exists with different content'),
    });
    const answers = [...wizard, [], 'create'];
    expect((await botcli(['init', '.', '--force'], { terminal: true, answers })).status).toBe(0);
    expect(await read('README.md')).toContain('# My Bot');
    const onFile = await botcli(['init', 'README.md'], { terminal: true, answers: ['wizard'] });
    expect(onFile).toMatchObject({ status: 1, stderr: expect.stringContaining('is a file') });
  });

  test('writes nothing if the user cancels at the last question', async () => {
    const answers = [...wizard, [], 'cancel'];
    expect(await botcli(['init', 'demo'], { terminal: true, answers })).toMatchObject({ status: 1 });
    expect(await tree()).toEqual([]);
  });

  test.each(Array.from({ length: 13 }, (_, index) => index))(
    'exits with 130 and writes nothing on Ctrl-C after %i answered questions',
    async (index) => {
      const answers = ['demo', ...wizard, [], 'create'].slice(0, index);
      const outcome = await botcli(['init'], { terminal: true, answers: [...answers, 'ctrl-c'] });
      expect(outcome.status).toBe(130);
      expect(outcome.stderr).toMatch(/^Canceled\. Nothing was written\.\n$/m);
      expect(await tree()).toEqual([]);
    },
  );
});

test('init --force leaves an existing project unchanged if the run is interrupted', async () => {
  await botcli(['init', 'demo', ...cascadeBotOptions]);
  await cp(join(directory, 'demo'), join(directory, 'before'), { recursive: true });
  const aborted = AbortSignal.abort();
  const other = ['-t', 'lightrtc', '-m', 'realtime', '--realtime', 'openai_realtime', '--force'];
  expect((await botcli(['init', 'demo', ...other], { signal: aborted })).status).toBe(130);
  const all = await tree();
  for (const path of all.filter((one) => one.startsWith('before/'))) {
    expect(await read(path)).toBe(await read(path.replace('before/', 'demo/')));
  }
  expect(all).toHaveLength(cascadeFiles.length * 2);
});
