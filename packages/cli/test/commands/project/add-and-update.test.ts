import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../../src/version.ts';
import { type RunOptions, runProgram } from '../../run-program.ts';
import { cascadeBotOptions } from '../../scaffold/cascade-bot-options.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-change-'));
  await runProgram(['init', '.', '-n', 'demo', ...cascadeBotOptions], { directory });
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const botcli = (args: readonly string[], given: RunOptions = {}) => runProgram(args, { directory, ...given });
const read = (path: string) => readFile(join(directory, path), 'utf8');
const edit = async (path: string, from: string, to: string) => {
  const text = await read(path);
  expect(text).toContain(from);
  await writeFile(join(directory, path), text.replace(from, to));
};

describe('project add', () => {
  test.each([
    ['carrier1', 'server/bot.py', '"twilio": lambda'],
    ['daily', 'server/.env.example', 'DAILY_API_KEY='],
    ['soniox_stt', 'server/bot.py', 'SonioxSTTService('],
    ['recording', 'server/bot.py', 'AudioBufferProcessor('],
    ['eval', 'server/evals/text.yaml', 'scenarios:'],
    ['enable-nc', 'server/pyproject.toml', 'rnnoise'],
  ])(
    'adds %s, so that `project check` reports no edited files and `project update` changes nothing',
    async (what, path, holds) => {
      expect((await botcli(['project', 'add', what, '--yes'])).status).toBe(0);
      expect(await read(path)).toContain(holds);
      const checked = await botcli(['project', 'check', '--json']);
      expect(checked.stdout).not.toContain('was edited');
      expect((await botcli(['project', 'update', '--yes'])).stderr).toContain('Nothing needs to change');
    },
  );

  test('replaces the existing service if the added service has the same kind', async () => {
    await botcli(['project', 'add', 'soniox_stt', '--yes']);
    expect(await read('server/bot.py')).not.toContain('Deepgram');
    expect(JSON.parse(await read('.botcli/project.json')).configuration).toMatchObject({ stt_service: 'soniox_stt' });
  });

  test('prints as next steps which variables to set and which packages to install', async () => {
    const { stdout } = await botcli(['project', 'add', 'soniox_stt', '--yes']);
    expect(stdout).toContain('Fill in server/.env: SONIOX_API_KEY\n');
    expect(stdout).toContain(`cd ${join(directory, 'server')} && uv sync`);
    const again = await botcli(['project', 'add', 'transcription', '--yes', '--json']);
    expect(JSON.parse(again.stdout).variables).toEqual([]);
  });

  test('keeps edits of the user in lines that the change does not touch', async () => {
    await edit('server/bot.py', 'You are a friendly and helpful', 'You are a grumpy but helpful');
    const { status, stdout } = await botcli(['project', 'add', 'transcription', '--yes']);
    expect(status).toBe(0);
    expect(stdout).toContain('server/bot.py\tmerged');
    const bot = await read('server/bot.py');
    expect(bot).toContain('grumpy');
    expect(bot).toContain('on_user_turn_stopped');
  });

  test.each(['carrier1', 'soniox_stt', 'eval', 'enable-nc', 'observability'])(
    'adds %s and keeps a dependency that the user added with uv',
    async (what) => {
      await edit('server/pyproject.toml', 'dependencies = [\n', 'dependencies = [\n    "httpx>=0.28.1",\n');
      const { status, stdout } = await botcli(['project', 'add', what, '--yes']);
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.not.stringContaining('conflict') });
      expect(await read('server/pyproject.toml')).toMatch(
        /^dependencies = \[\n {4}"httpx>=0\.28\.1",\n {4}"pipecat-ai\[/m,
      );
      expect((await botcli(['project', 'check'])).stderr).not.toContain('pyproject.toml: ');
    },
  );

  describe('if the change affects lines that the user edited', () => {
    beforeEach(() => edit('server/bot.py', 'DeepgramSTTService(api_key=os.environ["DEEPGRAM_API_KEY"])', 'MySTT()'));

    test('fails without changes and suggests --dry-run and --conflict-markers', async () => {
      const before = await read('.botcli/project.json');
      const { status, stderr } = await botcli(['project', 'add', 'soniox_stt', '--yes']);
      expect(status).toBe(1);
      expect(stderr).toContain('server/bot.py: you edited lines that this change would overwrite');
      expect(stderr).toContain('--dry-run');
      expect(stderr).toContain('--conflict-markers');
      expect(await read('.botcli/project.json')).toBe(before);
      expect(await read('server/.env.example')).not.toContain('SONIOX');
    });

    test('fails with --dry-run and shows both versions between markers', async () => {
      const before = await read('server/bot.py');
      const { status, stdout, stderr } = await botcli(['project', 'add', 'soniox_stt', '--dry-run']);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(
        /^\+<{7} your edits\n.* stt = MySTT\(\)\n\+={7}\n(\+.*\n)*\+ +stt = SonioxSTTService\(.*\n(\+.*\n)*\+>{7} botcli /m,
      );
      expect(stderr).toContain('server/bot.py\tconflict\n');
      expect(stderr).toMatch(/^\+SONIOX_API_KEY=/m);
      expect(await read('server/bot.py')).toBe(before);
      const json = await botcli(['project', 'add', 'soniox_stt', '--dry-run', '--json']);
      expect(json.stderr).toBe('');
      expect(JSON.parse(json.stdout).error).toMatchObject({
        reason: 'edits-in-the-way',
        details: { patch: expect.stringContaining('+<<<<<<< your edits'), variables: ['SONIOX_API_KEY'] },
      });
    });

    test('writes both versions with --conflict-markers, and check fails until the conflicts are resolved', async () => {
      const { status, stderr } = await botcli(['project', 'add', 'soniox_stt', '--conflict-markers', '--yes']);
      expect(status).toBe(1);
      expect(stderr).toContain('server/bot.py: the file contains both versions, between conflict markers');
      expect(await read('server/.env.example')).toContain('SONIOX_API_KEY=');
      const text = await read('server/bot.py');
      expect(text).toMatch(/^<{7} your edits\n.*MySTT[^>]*SonioxSTTService[^>]*^>{7} botcli /m);
      expect((await botcli(['project', 'check'])).stderr).toContain('server/bot.py: the file has unresolved conflicts');
      await writeFile(join(directory, 'server/bot.py'), text.replace(/^<{7} .*\n|^={7}\n[\s\S]*?^>{7} .*\n/gm, ''));
      expect((await botcli(['project', 'check'])).stderr).not.toContain('conflicts');
      expect(await botcli(['project', 'update', '--yes'])).toMatchObject({
        status: 0,
        stdout: 'File\tChange\nserver/bot.py\tkept\n',
      });
    });

    test('refuses the next change until the conflicts are resolved', async () => {
      await botcli(['project', 'add', 'soniox_stt', '--conflict-markers', '--yes']);
      const before = await read('server/bot.py');
      const { status, stderr } = await botcli(['project', 'add', 'recording', '--conflict-markers', '--yes']);
      expect(status).toBe(1);
      expect(stderr).toContain('server/bot.py: the file has unresolved conflicts from an earlier change');
      expect(await read('server/bot.py')).toBe(before);
    });

    test('asks for confirmation before it writes conflict markers', async () => {
      const given = { terminal: true, answers: [false] };
      await botcli(['project', 'add', 'soniox_stt', '--conflict-markers'], given);
      expect(await read('server/bot.py')).not.toContain('<<<<<<<');
    });
  });

  test('shows the planned differences with --dry-run and changes nothing', async () => {
    const before = await read('server/bot.py');
    const { status, stdout } = await botcli(['project', 'add', 'carrier1', '--dry-run']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\+ {4}"twilio": lambda: FastAPIWebsocketParams/m);
    expect(await read('server/bot.py')).toBe(before);
  });

  test('asks for confirmation, and fails without a terminal', async () => {
    expect((await botcli(['project', 'add', 'recording'])).status).toBe(2);
    expect((await botcli(['project', 'add', 'recording'], { terminal: true, answers: [false] })).status).toBe(1);
    expect(await read('server/bot.py')).not.toContain('AudioBufferProcessor');
    expect((await botcli(['project', 'add', 'recording'], { terminal: true, answers: [true] })).status).toBe(0);
  });

  test('does not overwrite a file that the user saved while the command asked for confirmation', async () => {
    const path = join(directory, 'server/bot.py');
    const answers = await read('.botcli/project.json');
    const onStderr = (text: string) => {
      if (text.includes('+++ b/server/bot.py')) writeFileSync(path, 'mine\n');
    };
    const given = { terminal: true, answers: [true], onStderr };
    const { status, stderr } = await botcli(['project', 'add', 'recording'], given);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('server/bot.py: another program changed this file'),
    });
    expect(await read('server/bot.py')).toBe('mine\n');
    expect(await read('.botcli/project.json')).toBe(answers);
  });

  test.each([
    ['pigeon', 'is not a transport, service or feature'],
    ['soniox', 'Did you mean soniox_stt or soniox_tts?'],
    ['hostedrtc_pstn', 'needs a call direction (dial-in or dial-out)'],
    ['openai_realtime', 'cannot be added to this project'],
  ])('refuses to add %s with the message: %s', async (what, message) => {
    expect(await botcli(['project', 'add', what, '--yes'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(message),
    });
  });
});

describe('project update', () => {
  /** Writes `text` to a file, and records in .botcli/project.json that botcli 0.0.9 generated the file with this text. */
  const generatedByAnother = async (path: string, text: string, isKnown = true) => {
    const answers = JSON.parse(await read('.botcli/project.json'));
    const texts = JSON.parse(brotliDecompressSync(Buffer.from(answers.generated, 'base64')).toString());
    const packed = brotliCompressSync(JSON.stringify({ ...texts, [path]: text })).toString('base64');
    answers.files[path] = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const generated = isKnown ? { generated: packed } : { generated: undefined };
    await writeFile(
      join(directory, '.botcli/project.json'),
      JSON.stringify({ ...answers, ...generated, generator: 'botcli 0.0.9' }),
    );
  };

  test('replaces an unedited file that another version of botcli generated', async () => {
    await generatedByAnother('README.md', 'older\n');
    await writeFile(join(directory, 'README.md'), 'older\n');
    expect((await botcli(['project', 'update', '--yes'])).stdout).toContain('README.md\tchanged');
    expect(await read('README.md')).toContain('# demo');
    expect(JSON.parse(await read('.botcli/project.json')).generator).not.toBe('botcli 0.0.9');
  });

  test('merges the changes into an edited file that another version of botcli generated', async () => {
    const now = await read('server/bot.py');
    const old = now.replace('import os\n', 'import os\nimport sys\n');
    await generatedByAnother('server/bot.py', old);
    await writeFile(join(directory, 'server/bot.py'), old.replace('friendly', 'grumpy'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toContain('server/bot.py\tmerged');
    expect(await read('server/bot.py')).toBe(now.replace('friendly', 'grumpy'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tChange\nserver/bot.py\tkept\n');
  });

  test('reports a conflict and changes nothing if the user edited lines that the new version also changes', async () => {
    await generatedByAnother('README.md', 'older\n');
    await writeFile(join(directory, 'README.md'), 'mine\n');
    const { status, stderr } = await botcli(['project', 'update', '--yes']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('README.md') });
    expect(await read('README.md')).toBe('mine\n');
    expect(JSON.parse(await read('.botcli/project.json')).generator).toBe('botcli 0.0.9');
  });

  test('reports a conflict for an edited file if the originally generated text is not stored', async () => {
    await generatedByAnother('README.md', 'older\n', false);
    await writeFile(join(directory, 'README.md'), 'older\n\nmine\n');
    expect((await botcli(['project', 'update', '--yes'])).status).toBe(1);
    const { stderr } = await botcli(['project', 'update', '--dry-run']);
    expect(stderr).toMatch(/^\+={7}\n\+# demo\n/m);
  });

  test('does not restore a removed file, even if the new version generates different text for it', async () => {
    await generatedByAnother('server/Dockerfile', 'FROM old\n');
    await rm(join(directory, 'server/Dockerfile'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toContain('server/Dockerfile\tkept');
    await expect(read('server/Dockerfile')).rejects.toThrow('ENOENT');
  });

  test('does not restore a removed file', async () => {
    await rm(join(directory, 'server/Dockerfile'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tChange\nserver/Dockerfile\tkept\n');
    await expect(read('server/Dockerfile')).rejects.toThrow('ENOENT');
  });
});

describe('project update on guides for coding agents', () => {
  const older = () => edit('AGENTS.md', `botcli init ${version}`, 'botcli init 0.0.9');

  test('replaces a guide from an older botcli if the user did not edit the guide', async () => {
    const latest = await read('AGENTS.md');
    await older();
    const { status, stdout } = await botcli(['project', 'update', '--yes']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'File\tChange\nAGENTS.md\tchanged\n' });
    expect(await read('AGENTS.md')).toBe(latest);
  });

  test('replaces a guide that has no version marker if the user did not edit the guide', async () => {
    await writeFile(join(directory, 'ASSISTANT.md'), 'See AGENTS.md\n');
    const answers = JSON.parse(await read('.botcli/project.json'));
    answers.guides['ASSISTANT.md'] = `sha256:${createHash('sha256').update('See AGENTS.md\n').digest('hex')}`;
    await writeFile(join(directory, '.botcli/project.json'), JSON.stringify(answers));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tChange\nASSISTANT.md\tchanged\n');
    expect(await read('ASSISTANT.md')).toBe('@AGENTS.md\n');
  });

  test('does not overwrite guides that were edited, removed or replaced by a link, and lists them as kept', async () => {
    await older();
    await edit('AGENTS.md', '# Building', '# Not building');
    const before = await read('AGENTS.md');
    await rm(join(directory, 'ASSISTANT.md'));
    const { status, stdout } = await botcli(['project', 'update', '--yes']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'File\tChange\nAGENTS.md\tkept\nASSISTANT.md\tkept\n' });
    expect(await read('AGENTS.md')).toBe(before);
    await symlink('AGENTS.md', join(directory, 'ASSISTANT.md'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe(
      'File\tChange\nAGENTS.md\tkept\nASSISTANT.md\tkept\n',
    );
  });

  test('adds missing hashes of guides to .botcli/project.json', async () => {
    const whole = await read('.botcli/project.json');
    await writeFile(
      join(directory, '.botcli/project.json'),
      JSON.stringify({ ...JSON.parse(whole), guides: undefined }),
    );
    await older();
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tChange\nAGENTS.md\tchanged\n');
    expect(await read('.botcli/project.json')).toBe(whole);
  });
});

describe('a hostile project', () => {
  test.each(['../outside.txt', '/etc/hostname', 'server/../../outside.txt', 'a\\\\..\\\\b'])(
    'is refused if its .botcli/project.json contains the path %s',
    async (path) => {
      const answers = JSON.parse(await read('.botcli/project.json'));
      answers.files[path] = `sha256:${'0'.repeat(64)}`;
      await writeFile(join(directory, '.botcli/project.json'), JSON.stringify(answers));
      expect(await botcli(['project', 'update', '--yes'])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('was not written by botcli'),
      });
    },
  );

  test.each([
    ['server', 'bot.py'],
    ['.botcli', 'project.json'],
  ])('is refused if the directory %s is a link', async (folder, file) => {
    await rename(join(directory, folder), join(directory, 'elsewhere'));
    await symlink(join(directory, 'elsewhere'), join(directory, folder));
    const before = await read(`elsewhere/${file}`);
    expect(await botcli(['project', 'add', 'recording', '--yes'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`${folder} is not a directory`),
    });
    expect(await read(`elsewhere/${file}`)).toBe(before);
  });
});
