import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../../src/version.ts';
import { type Circumstances, runProgram } from '../../run-program.ts';
import { cascadeOptions } from '../../scaffold/cascade-options.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-change-'));
  await runProgram(['init', '.', '-n', 'demo', ...cascadeOptions], { directory });
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const botcli = (args: readonly string[], given: Circumstances = {}) => runProgram(args, { directory, ...given });
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
  ])('%s makes the project that init would have made', async (what, path, holds) => {
    expect((await botcli(['project', 'add', what, '--yes'])).status).toBe(0);
    expect(await read(path)).toContain(holds);
    const checked = await botcli(['project', 'check', '--json']);
    expect(checked.stdout).not.toContain('was edited');
    expect((await botcli(['project', 'update', '--yes'])).stderr).toContain('Nothing needs to change');
  });

  test('a service takes the place of the one in its role', async () => {
    await botcli(['project', 'add', 'soniox_stt', '--yes']);
    expect(await read('server/bot.py')).not.toContain('Deepgram');
    expect(JSON.parse(await read('.botcli/project.json')).configuration).toMatchObject({ stt_service: 'soniox_stt' });
  });

  test('what is left to do is told: variables to fill, packages to install', async () => {
    const { stdout } = await botcli(['project', 'add', 'soniox_stt', '--yes']);
    expect(stdout).toContain('Fill in server/.env: SONIOX_API_KEY\n');
    expect(stdout).toContain(`cd ${join(directory, 'server')} && uv sync`);
    const again = await botcli(['project', 'add', 'transcription', '--yes', '--json']);
    expect(JSON.parse(again.stdout).variables).toEqual([]);
  });

  test('edits are kept where the change does not touch them', async () => {
    await edit('server/bot.py', 'You are a friendly and helpful', 'You are a grumpy but helpful');
    const { status, stdout } = await botcli(['project', 'add', 'transcription', '--yes']);
    expect(status).toBe(0);
    expect(stdout).toContain('server/bot.py\tmerged');
    const bot = await read('server/bot.py');
    expect(bot).toContain('grumpy');
    expect(bot).toContain('on_user_turn_stopped');
  });

  test.each(['carrier1', 'soniox_stt', 'eval', 'enable-nc', 'observability'])(
    '%s is added to a project that got a dependency by uv',
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

  describe('where an edit and the change touch the same lines', () => {
    beforeEach(() => edit('server/bot.py', 'DeepgramSTTService(api_key=os.environ["DEEPGRAM_API_KEY"])', 'MySTT()'));

    test('nothing is changed, and the failure says how to see both and what to do', async () => {
      const before = await read('.botcli/project.json');
      const { status, stderr } = await botcli(['project', 'add', 'soniox_stt', '--yes']);
      expect(status).toBe(1);
      expect(stderr).toContain('server/bot.py: you edited lines that would change');
      expect(stderr).toContain('--dry-run');
      expect(stderr).toContain('--conflict-markers');
      expect(await read('.botcli/project.json')).toBe(before);
      expect(await read('server/.env.example')).not.toContain('SONIOX');
    });

    test('--dry-run shows both, between markers, among all else that would change, and fails', async () => {
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

    test('--conflict-markers writes both, and check fails until somebody has chosen', async () => {
      const { status, stderr } = await botcli(['project', 'add', 'soniox_stt', '--conflict-markers', '--yes']);
      expect(status).toBe(1);
      expect(stderr).toContain('server/bot.py: has both versions, between conflict markers');
      expect(await read('server/.env.example')).toContain('SONIOX_API_KEY=');
      const text = await read('server/bot.py');
      expect(text).toMatch(/^<{7} your edits\n.*MySTT[^>]*SonioxSTTService[^>]*^>{7} botcli /m);
      expect((await botcli(['project', 'check'])).stderr).toContain('server/bot.py: has unresolved conflicts');
      await writeFile(join(directory, 'server/bot.py'), text.replace(/^<{7} .*\n|^={7}\n[\s\S]*?^>{7} .*\n/gm, ''));
      expect((await botcli(['project', 'check'])).stderr).not.toContain('conflicts');
      expect(await botcli(['project', 'update', '--yes'])).toMatchObject({
        status: 0,
        stdout: 'File\tWhat\nserver/bot.py\tkept\n',
      });
    });

    test('the next change waits until the conflicts of the last one are resolved', async () => {
      await botcli(['project', 'add', 'soniox_stt', '--conflict-markers', '--yes']);
      const before = await read('server/bot.py');
      const { status, stderr } = await botcli(['project', 'add', 'recording', '--conflict-markers', '--yes']);
      expect(status).toBe(1);
      expect(stderr).toContain('server/bot.py: has unresolved conflicts of an earlier change');
      expect(await read('server/bot.py')).toBe(before);
    });

    test('--conflict-markers asks before it writes', async () => {
      const given = { terminal: true, answers: [false] };
      await botcli(['project', 'add', 'soniox_stt', '--conflict-markers'], given);
      expect(await read('server/bot.py')).not.toContain('<<<<<<<');
    });
  });

  test('--dry-run shows the difference and changes nothing', async () => {
    const before = await read('server/bot.py');
    const { status, stdout } = await botcli(['project', 'add', 'carrier1', '--dry-run']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^\+ {4}"twilio": lambda: FastAPIWebsocketParams/m);
    expect(await read('server/bot.py')).toBe(before);
  });

  test('it asks first, and without a terminal it never takes a yes for granted', async () => {
    expect((await botcli(['project', 'add', 'recording'])).status).toBe(2);
    expect((await botcli(['project', 'add', 'recording'], { terminal: true, answers: [false] })).status).toBe(1);
    expect(await read('server/bot.py')).not.toContain('AudioBufferProcessor');
    expect((await botcli(['project', 'add', 'recording'], { terminal: true, answers: [true] })).status).toBe(0);
  });

  test('what is saved while the question stands is not overwritten', async () => {
    const path = join(directory, 'server/bot.py');
    const answers = await read('.botcli/project.json');
    const onStderr = (text: string) => {
      if (text.includes('+++ b/server/bot.py')) writeFileSync(path, 'mine\n');
    };
    const given = { terminal: true, answers: [true], onStderr };
    const { status, stderr } = await botcli(['project', 'add', 'recording'], given);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('server/bot.py: was changed in the meantime'),
    });
    expect(await read('server/bot.py')).toBe('mine\n');
    expect(await read('.botcli/project.json')).toBe(answers);
  });

  test.each([
    ['pigeon', 'is not a transport, service or feature'],
    ['hostedrtc_pstn', 'has two directions'],
    ['openai_realtime', 'does not fit this project'],
  ])('%s is refused', async (what, says) => {
    expect(await botcli(['project', 'add', what, '--yes'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(says),
    });
  });
});

describe('project update', () => {
  /** As if another version had made a file, and it read like this. */
  const madeByAnother = async (path: string, text: string, isKnown = true) => {
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

  test('a file that nobody edited is replaced, whatever version made it', async () => {
    await madeByAnother('README.md', 'of old\n');
    await writeFile(join(directory, 'README.md'), 'of old\n');
    expect((await botcli(['project', 'update', '--yes'])).stdout).toContain('README.md\tchanged');
    expect(await read('README.md')).toContain('# demo');
    expect(JSON.parse(await read('.botcli/project.json')).generator).not.toBe('botcli 0.0.9');
  });

  test('one that was edited is merged with what another version made of it', async () => {
    const now = await read('server/bot.py');
    const old = now.replace('import os\n', 'import os\nimport sys\n');
    await madeByAnother('server/bot.py', old);
    await writeFile(join(directory, 'server/bot.py'), old.replace('friendly', 'grumpy'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toContain('server/bot.py\tmerged');
    expect(await read('server/bot.py')).toBe(now.replace('friendly', 'grumpy'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tWhat\nserver/bot.py\tkept\n');
  });

  test('one that was edited where it has to change is a conflict: it is named, and all stays', async () => {
    await madeByAnother('README.md', 'of old\n');
    await writeFile(join(directory, 'README.md'), 'mine\n');
    const { status, stderr } = await botcli(['project', 'update', '--yes']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('README.md') });
    expect(await read('README.md')).toBe('mine\n');
    expect(JSON.parse(await read('.botcli/project.json')).generator).toBe('botcli 0.0.9');
  });

  test('so is one of which it is not known what was generated', async () => {
    await madeByAnother('README.md', 'of old\n', false);
    await writeFile(join(directory, 'README.md'), 'of old\n\nmine\n');
    expect((await botcli(['project', 'update', '--yes'])).status).toBe(1);
    const { stderr } = await botcli(['project', 'update', '--dry-run']);
    expect(stderr).toMatch(/^\+={7}\n\+# demo\n/m);
  });

  test('a file that was removed stays removed when another version would make it differently', async () => {
    await madeByAnother('server/Dockerfile', 'FROM old\n');
    await rm(join(directory, 'server/Dockerfile'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toContain('server/Dockerfile\tkept');
    await expect(read('server/Dockerfile')).rejects.toThrow('ENOENT');
  });

  test('a generated file that was removed stays removed', async () => {
    await rm(join(directory, 'server/Dockerfile'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tWhat\nserver/Dockerfile\tkept\n');
    await expect(read('server/Dockerfile')).rejects.toThrow('ENOENT');
  });
});

describe('guides, by project update', () => {
  const older = () => edit('AGENTS.md', `botcli init ${version}`, 'botcli init 0.0.9');

  test('one of an older version that nobody edited is replaced', async () => {
    const anew = await read('AGENTS.md');
    await older();
    const { status, stdout } = await botcli(['project', 'update', '--yes']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'File\tWhat\nAGENTS.md\tchanged\n' });
    expect(await read('AGENTS.md')).toBe(anew);
  });

  test('so is the one without a version, when another version wrote it otherwise', async () => {
    await writeFile(join(directory, 'ASSISTANT.md'), 'See AGENTS.md\n');
    const answers = JSON.parse(await read('.botcli/project.json'));
    answers.guides['ASSISTANT.md'] = `sha256:${createHash('sha256').update('See AGENTS.md\n').digest('hex')}`;
    await writeFile(join(directory, '.botcli/project.json'), JSON.stringify(answers));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tWhat\nASSISTANT.md\tchanged\n');
    expect(await read('ASSISTANT.md')).toBe('@AGENTS.md\n');
  });

  test('those that were edited, removed or made a link are named, and kept', async () => {
    await older();
    await edit('AGENTS.md', '# Building', '# Not building');
    const before = await read('AGENTS.md');
    await rm(join(directory, 'ASSISTANT.md'));
    const { status, stdout } = await botcli(['project', 'update', '--yes']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'File\tWhat\nAGENTS.md\tkept\nASSISTANT.md\tkept\n' });
    expect(await read('AGENTS.md')).toBe(before);
    await symlink('AGENTS.md', join(directory, 'ASSISTANT.md'));
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe(
      'File\tWhat\nAGENTS.md\tkept\nASSISTANT.md\tkept\n',
    );
  });

  test('a project whose answers do not name them gets them named', async () => {
    const whole = await read('.botcli/project.json');
    await writeFile(
      join(directory, '.botcli/project.json'),
      JSON.stringify({ ...JSON.parse(whole), guides: undefined }),
    );
    await older();
    expect((await botcli(['project', 'update', '--yes'])).stdout).toBe('File\tWhat\nAGENTS.md\tchanged\n');
    expect(await read('.botcli/project.json')).toBe(whole);
  });
});

describe('a project that somebody else made', () => {
  test.each(['../outside.txt', '/etc/hostname', 'server/../../outside.txt', 'a\\\\..\\\\b'])(
    'with answers that name %s is refused',
    async (path) => {
      const answers = JSON.parse(await read('.botcli/project.json'));
      answers.files[path] = `sha256:${'0'.repeat(64)}`;
      await writeFile(join(directory, '.botcli/project.json'), JSON.stringify(answers));
      expect(await botcli(['project', 'update', '--yes'])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('is not what botcli wrote'),
      });
    },
  );

  test.each([
    ['server', 'bot.py'],
    ['.botcli', 'project.json'],
  ])('with a link instead of the folder %s is not written through', async (folder, file) => {
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
