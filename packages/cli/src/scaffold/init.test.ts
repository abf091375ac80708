import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Circumstances, runProgram } from '../../test/run-program.ts';
import { cascadeOptions } from '../../test/scaffold/cascade-options.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-init-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const botcli = (args: readonly string[], given: Circumstances = {}) => runProgram(args, { directory, ...given });
const read = (path: string) => readFile(join(directory, path), 'utf8');

/** Every file below the test's directory, sorted. */
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

describe('by options', () => {
  test('a project is made in a directory that is made with it, and called like it', async () => {
    const { status, stdout, stderr } = await botcli(['init', 'demo', ...cascadeOptions, '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(await tree()).toEqual(cascadeFiles.map((path) => `demo/${path}`));
    expect(JSON.parse(stdout)).toMatchObject({
      directory: join(directory, 'demo'),
      written: cascadeFiles,
      configuration: { project_name: 'demo' },
    });
  });

  test('without a directory it is made in this one, beside what is there', async () => {
    await writeFile(join(directory, 'notes.txt'), 'mine');
    expect((await botcli(['init', ...cascadeOptions, '--name', 'Front Desk'])).status).toBe(0);
    expect(await tree()).toEqual([...cascadeFiles, 'notes.txt'].sort());
    expect(await read('server/deploy.toml')).toContain('agent_name = "front-desk"');
  });

  test('a deployment, evaluations and the container file are there when they were asked for', async () => {
    await botcli(['init', 'demo', ...cascadeOptions, '--no-deploy-to-cloud', '--eval']);
    const paths = await tree();
    expect(paths).toContain('demo/server/evals/text.yaml');
    expect(paths).not.toContain('demo/server/Dockerfile');
    expect(paths).not.toContain('demo/GETTING_STARTED.md');
  });

  test('the next steps are those of this project', async () => {
    const chosen = [...cascadeOptions, '-t', 'carrier1', '--eval'];
    const { stdout } = await botcli(['init', 'two words', ...chosen]);
    expect(stdout).toContain(`cd '${join(directory, 'two words/server')}'\n`);
    expect(stdout).toContain('uv run --group evals pipecat eval run evals/text.yaml');
    expect(stdout).toContain('To connect calls to the bot, follow README.md');
    expect((await botcli(['init', 'demo', ...cascadeOptions])).stdout).not.toMatch(/eval|call/);
  });

  test('a transport that the client cannot offer is told, in words and in JSON', async () => {
    const chosen = [...cascadeOptions, '-t', 'livekit', '--client-framework', 'vanilla'];
    const { stderr } = await botcli(['init', 'demo', ...chosen]);
    expect(stderr).toContain('The client does not offer livekit: Pipecat’s client package for it is not published.');
    const notes = async (...args: readonly string[]) =>
      JSON.parse((await botcli(['init', ...args, '--json'])).stdout).notes;
    expect(await notes('other', ...chosen)).toEqual([expect.stringContaining('livekit-client')]);
    expect(await notes('third', ...cascadeOptions, '-t', 'livekit')).toEqual([]);
    expect(await notes('fourth', ...cascadeOptions, '--client-framework', 'react')).toEqual([]);
  });

  test('everything missing and wrong is told at once, with status 1, and nothing is written', async () => {
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
  ])('%s alone describes a project, so it is not ignored', async (option) => {
    expect(await botcli(['init', 'demo', option])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('transports'),
    });
    expect(await tree()).toEqual([]);
  });

  test('an option wins over the config file, also one that turns something off', async () => {
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
    ['is not there', 'nowhere.json', 'it is not there'],
    ['is a directory', '.', 'it is a directory'],
  ])('a config file that %s is an error', async (_what, file, says) => {
    expect(await botcli(['init', 'demo', '--config', file])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(says),
    });
  });
});

describe('--dry-run', () => {
  test('prints the resolved configuration and nothing else, in every mode of output', async () => {
    const plain = await botcli(['init', 'demo', ...cascadeOptions, '--dry-run']);
    expect(plain).toMatchObject({ status: 0, stderr: '' });
    expect((await botcli(['init', 'demo', ...cascadeOptions, '--dry-run', '--json'])).stdout).toBe(plain.stdout);
    expect((await botcli(['init', 'demo', ...cascadeOptions, '--dry-run', '--output', 'rich'])).stdout).toBe(
      plain.stdout,
    );
    expect(plain.stdout).toBe(`${JSON.stringify(JSON.parse(plain.stdout), null, 2)}\n`);
    expect(await tree()).toEqual([]);
  });

  test('writes nothing for the quickstart either', async () => {
    const { status, stdout } = await botcli(['init', 'quickstart', '--dry-run', '--overwrite-guide']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      project_name: 'botcli-quickstart',
      transports: ['lightrtc', 'hostedrtc'],
    });
    expect(await tree()).toEqual([]);
  });
});

test('--list-options comes first, whatever else is said', async () => {
  const { status, stdout } = await botcli(['init', 'quickstart', '--mode', 'x', '--list-options']);
  expect(status).toBe(0);
  expect(Object.keys(JSON.parse(stdout))).toEqual(['bot_type', 'transports', 'stt', 'llm', 'tts', 'realtime', 'video']);
});

describe('quickstart', () => {
  test('goes into a directory of its own', async () => {
    expect((await botcli(['init', 'quickstart'])).status).toBe(0);
    expect(await tree()).toEqual(cascadeFiles.map((path) => `botcli-quickstart/${path}`));
    expect(await read('botcli-quickstart/README.md')).toContain('pipecat context-hub install');
  });

  test.each([['--eval'], ['--no-recording'], ['-n', 'x'], ['-c', 'x.json']])('takes no %s', async (...option) => {
    expect(await botcli(['init', 'quickstart', ...option])).toMatchObject({ status: 2, stdout: '' });
    expect(await tree()).toEqual([]);
  });

  test('./quickstart is a directory like any other', async () => {
    await botcli(['init', './quickstart', ...cascadeOptions]);
    expect(await tree()).toContain('quickstart/server/bot.py');
  });
});

describe('what is there already', () => {
  test('the same command again changes nothing', async () => {
    await botcli(['init', 'demo', ...cascadeOptions]);
    const { status, stdout } = await botcli(['init', 'demo', ...cascadeOptions, '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).written).toEqual([]);
  });

  test('files that differ are all listed, and nothing is written', async () => {
    await mkdir(join(directory, 'server'));
    await writeFile(join(directory, 'README.md'), 'mine');
    await writeFile(join(directory, 'server/bot.py'), 'mine');
    const { status, stderr } = await botcli(['init', '.', ...cascadeOptions, '-n', 'demo']);
    expect(status).toBe(1);
    expect(stderr).toMatch(/README\.md: exists and differs\n {2}server\/bot\.py: exists and differs/);
    expect(stderr).toContain('--force');
    expect(await tree()).toEqual(['README.md', 'server/bot.py']);
    expect(await read('README.md')).toBe('mine');
  });

  test('--force overwrites them, but no guide', async () => {
    await writeFile(join(directory, 'README.md'), 'mine');
    await writeFile(join(directory, 'AGENTS.md'), 'mine');
    expect(await botcli(['init', '.', ...cascadeOptions, '-n', 'demo', '--force'])).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('AGENTS.md is your own'),
    });
    expect(await read('README.md')).toContain('# demo');
    expect(await read('AGENTS.md')).toBe('mine');
    expect(await tree()).toEqual(cascadeFiles);
  });

  test('a link is followed nowhere, and --force does not remove it', async () => {
    await mkdir(join(directory, 'elsewhere'));
    await mkdir(join(directory, 'demo'));
    await symlink(join(directory, 'elsewhere'), join(directory, 'demo/server'));
    await symlink(join(directory, 'gone'), join(directory, 'demo/README.md'));
    const { status, stderr } = await botcli(['init', 'demo', ...cascadeOptions, '--force']);
    expect(status).toBe(1);
    expect(stderr).toContain('server/bot.py: server is not a directory');
    expect(stderr).toContain('README.md: is a link');
    expect(await tree()).toEqual(['demo/README.md', 'demo/server']);
    expect(await readdir(join(directory, 'elsewhere'))).toEqual([]);
  });

  test('a directory where a file belongs is in the way', async () => {
    await mkdir(join(directory, 'demo/AGENTS.md'), { recursive: true });
    expect(await botcli(['init', 'demo', ...cascadeOptions, '--overwrite-guide'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('AGENTS.md: is a directory'),
    });
    expect(await tree()).toEqual([]);
  });
});

describe('a target that cannot be', () => {
  test('a file', async () => {
    await writeFile(join(directory, 'demo'), 'mine');
    expect(await botcli(['init', 'demo', ...cascadeOptions])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is a file'),
    });
    expect(await read('demo')).toBe('mine');
  });

  test('below a file', async () => {
    await writeFile(join(directory, 'demo'), 'mine');
    expect(await botcli(['init', 'demo/bot', ...cascadeOptions])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('a part of the path is a file'),
    });
  });

  test('a name that is too long', async () => {
    const { status, stderr } = await botcli(['init', 'a'.repeat(300), ...cascadeOptions, '-n', 'demo']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('too long') });
    expect(await tree()).toEqual([]);
  });

  test('a directory without permission', async () => {
    // Modes do not stop root, but the kernel's own file system takes no directory from anybody.
    const isRoot = process.getuid?.() === 0;
    const closed = isRoot ? '/sys' : join(directory, 'closed');
    if (!isRoot) await mkdir(closed, { mode: 0o500 });
    expect(await botcli(['init', join(closed, 'demo'), ...cascadeOptions])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`there is no permission to write there (${closed}/demo). Nothing was written.`),
    });
    expect(await tree()).toEqual([]);
  });

  test('a file system that is read-only', async () => {
    const { status, stderr } = await botcli(['init', '/proc/botcli/demo', ...cascadeOptions]);
    expect(status).toBe(1);
    expect(stderr).toContain('Nothing was written');
  });
});

describe('guides', () => {
  test('a named directory without a terminal gets the three guides', async () => {
    const { status, stdout } = await botcli(['init', 'demo', '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).written).toEqual(['AGENTS.md', 'ASSISTANT.md', 'GETTING_STARTED.md']);
  });

  test('one of an older version is kept, and a run without a person says how to refresh it', async () => {
    await botcli(['init', 'demo']);
    const older = (await read('demo/AGENTS.md')).replace(/botcli init \d+\.\d+\.\d+/, 'botcli init 0.0.9');
    await writeFile(join(directory, 'demo/AGENTS.md'), older);
    const { stderr } = await botcli(['init', 'demo']);
    expect(stderr).toMatch(/AGENTS\.md was written by version 0\.0\.9 and was kept\. --overwrite-guide/);
    expect(await read('demo/AGENTS.md')).toBe(older);
    await botcli(['init', 'demo', '--overwrite-guide']);
    expect(await read('demo/AGENTS.md')).not.toContain('botcli init 0.0.9');
  });

  test.each([
    [true, false],
    [false, true],
  ])('a person is asked whether to refresh it; the answer %s keeps it: %s', async (answer, kept) => {
    await botcli(['init', 'demo']);
    const older = (await read('demo/AGENTS.md')).replace(/botcli init \d+\.\d+\.\d+/, 'botcli init 0.0.9');
    await writeFile(join(directory, 'demo/AGENTS.md'), older);
    await botcli(['init', 'demo'], { terminal: true, answers: ['agent', answer] });
    expect((await read('demo/AGENTS.md')) === older).toBe(kept);
  });

  test('one of a newer version is not taken for an old one', async () => {
    await botcli(['init', 'demo']);
    const newer = (await read('demo/AGENTS.md')).replace(/botcli init \d+\.\d+\.\d+/, 'botcli init 99.0.0');
    await writeFile(join(directory, 'demo/AGENTS.md'), newer);
    expect((await botcli(['init', 'demo'])).stderr).toBe('');
  });
});

describe('asking', () => {
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

  test('without a terminal and without a directory there is nobody to ask: status 2', async () => {
    expect(await botcli(['init'])).toMatchObject({ status: 2, stderr: expect.stringContaining('no terminal') });
  });

  test('the wizard makes what was chosen', async () => {
    const answers = ['demo', ...wizard, ['deploy_to_cloud', 'enable_eval'], 'make'];
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

  test('the wizard offers livekit beside a client, and then asks for a way in that the client takes', async () => {
    const before = ['wizard', 'My Bot', 'web', 'vanilla', 'livekit'];
    const answers = [...before, 'lightrtc', ...wizard.slice(6), [], 'make'];
    const { status, stderr } = await botcli(['init', 'demo'], { terminal: true, answers });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('does the client use?') });
    const alone = await botcli(['init', 'other'], { terminal: true, answers: [...before, 'none'] });
    expect(alone).toMatchObject({ status: 1, stderr: expect.stringContaining('does not offer none') });
  });

  test('going back asks the question before again', async () => {
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
    const outcome = botcli(['init', 'demo'], {
      terminal: true,
      answers: [...answers.slice(0, -1), 'back', [], 'make'],
    });
    expect((await outcome).status).toBe(0);
    expect(JSON.parse(await read('demo/.botcli/project.json')).configuration).toMatchObject({
      bot_type: 'web',
      generate_client: false,
      deploy_to_cloud: false,
    });
  });

  test('features lead back too, so that nothing before them is final', async () => {
    const answers = [...wizard, ['deploy_to_cloud', '(back)'], 'cartesia_tts', [], 'make'];
    expect((await botcli(['init', 'demo'], { terminal: true, answers })).status).toBe(0);
    expect(JSON.parse(await read('demo/.botcli/project.json')).configuration).toMatchObject({
      tts_service: 'cartesia_tts',
      deploy_to_cloud: false,
    });
  });

  test('answers that do not fit together cost only the last of them', async () => {
    const answers = [...wizard, ['enable_nc'], 'back', ['enable_nc', 'deploy_to_cloud'], 'make'];
    const { status, stderr } = await botcli(['init', 'demo'], { terminal: true, answers });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(await read('demo/.botcli/project.json')).configuration).toMatchObject({
      enable_nc: true,
      deploy_to_cloud: true,
    });
  });

  test('what is in the way of every project is told before the questions', async () => {
    await writeFile(join(directory, 'README.md'), '# mine\n');
    const { status, stderr } = await botcli(['init', '.'], { terminal: true, answers: ['wizard'] });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('README.md: exists and differs') });
    const answers = [...wizard, [], 'make'];
    expect((await botcli(['init', '.', '--force'], { terminal: true, answers })).status).toBe(0);
    expect(await read('README.md')).toContain('# My Bot');
    const onFile = await botcli(['init', 'README.md'], { terminal: true, answers: ['wizard'] });
    expect(onFile).toMatchObject({ status: 1, stderr: expect.stringContaining('is a file') });
  });

  test('a no at the end writes nothing', async () => {
    const answers = [...wizard, [], 'drop'];
    expect(await botcli(['init', 'demo'], { terminal: true, answers })).toMatchObject({ status: 1 });
    expect(await tree()).toEqual([]);
  });

  test.each(Array.from({ length: 13 }, (_, index) => index))(
    'Ctrl-C at question %i leaves nothing behind',
    async (index) => {
      const answers = ['demo', ...wizard, [], 'make'].slice(0, index);
      expect((await botcli(['init'], { terminal: true, answers: [...answers, 'ctrl-c'] })).status).toBe(130);
      expect(await tree()).toEqual([]);
    },
  );
});

test('a failure in the middle puts everything back', async () => {
  await botcli(['init', 'demo', ...cascadeOptions]);
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
