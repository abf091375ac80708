import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../run-program.ts';
import { cascadeBotOptions } from './cascade-bot-options.ts';

/** Invalid and hostile names, paths and config files must cause an error, and nothing may be written. */
let root: string;
let directory: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'botcli-hostile-'));
  directory = join(root, 'here');
  await mkdir(directory);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const init = (...args: readonly string[]) => runProgram(['init', ...args], { directory });

/** Lists all paths in `root` except the working directory `here`. Any such path is a file that botcli should not have written. */
const writtenPaths = async () => (await readdir(root, { recursive: true })).filter((path) => path !== 'here').sort();

describe('init --name', () => {
  test.each([
    ['with a line break', 'a\nb = 1'],
    ['with terminal escape sequences', '\u001b[31mred'],
    ['with a right-to-left override', 'bot\u202Etxt.exe'],
    ['with a lone surrogate', 'bot\uD800'],
    ['of 101 characters', 'a'.repeat(101)],
    ['without a letter for the agent', '!!!'],
    ['of one letter', 'a'],
    ['of another script', '机器人'],
    ['that is reserved', 'Webhooks'],
  ])('rejects an invalid name and escapes it in the error: a name %s', async (_what, name) => {
    const { status, stdout, stderr } = await init('demo', ...cascadeBotOptions, '--name', name);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^ {2}project_name: "/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be printed
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202E]/);
    expect(await writtenPaths()).toEqual([]);
  });

  test.each(['', '  \t '])('rejects the empty value %j', async (name) => {
    expect(await init('demo', ...cascadeBotOptions, '--name', name)).toMatchObject({ status: 2, stdout: '' });
    expect(await writtenPaths()).toEqual([]);
  });

  test.each(['../../x1', '/etc/passwd', 'C:\\x1', '../x1/..', '~/x1', '$(touch x1)', '-rf'])(
    'uses the value %s as a name, not as a path',
    async (name) => {
      expect((await init('demo', ...cascadeBotOptions, `--name=${name}`)).status).toBe(0);
      expect((await readdir(root)).sort()).toEqual(['here']);
      expect(await readdir(directory)).toEqual(['demo']);
    },
  );
});

describe('init DIRECTORY', () => {
  test.each([
    ['a name that is too long', 'x'.repeat(300)],
    ['a path that is too long', `${'x/'.repeat(3000)}x`],
    ['a path below a device', '/dev/null/demo'],
  ])('rejects a directory with %s', async (_what, target) => {
    const { status, stdout, stderr } = await init(target, ...cascadeBotOptions, '--name', 'demo');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Nothing was written.');
    expect(await writtenPaths()).toEqual([]);
  });

  test('rejects a symbolic link that points to itself, and keeps the link', async () => {
    await symlink('demo', join(directory, 'demo'));
    const { status, stderr } = await init('demo', ...cascadeBotOptions);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('Nothing was written.') });
    expect(await writtenPaths()).toEqual(['here/demo']);
  });

  test('rejects a dangling link and creates nothing at its target', async () => {
    await symlink(join(root, 'elsewhere'), join(directory, 'demo'));
    const { status, stderr } = await init('demo', ...cascadeBotOptions);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('Nothing was written.') });
    expect(await writtenPaths()).toEqual(['here/demo']);
  });
});

describe('init --config', () => {
  const answers = { transports: ['lightrtc'], mode: 'cascade', stt: 'deepgram_stt', llm: 'openai_llm' };

  test.each<[string, string | Buffer, string]>([
    ['without content', '', 'JSON'],
    ['with white space only', ' \n', 'JSON'],
    ['that is truncated', '{"mode": "casc', 'JSON'],
    ['with a trailing comma', '{"mode": "cascade",}', 'JSON'],
    ['with two documents', '{} {}', 'JSON'],
    ['that is not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'the file is not UTF-8'],
    ['in UTF-16', Buffer.from(JSON.stringify(answers), 'utf16le'), 'JSON'],
    ['of more than 1 MB', JSON.stringify({ mode: 'x'.repeat(1_000_000) }), 'the file is larger than 1 MB'],
    ['that is nested deeply', '['.repeat(200_000), 'JSON'],
    [
      'with the key __proto__',
      '{"__proto__": {"mode": "cascade"}, "constructor": 1}',
      '__proto__: this key is unknown',
    ],
    ['with terminal escape sequences in a key', '{"\\u001b[31mred": 1}', 'this key is unknown'],
    ['with terminal escape sequences in a value', JSON.stringify({ ...answers, tts: '\u001b[2J' }), 'tts_service: '],
    ['with a path as a service', JSON.stringify({ ...answers, tts: '../../etc/passwd' }), 'tts_service: '],
    ['with the name of a method as a service', JSON.stringify({ ...answers, tts: 'constructor' }), 'tts_service: '],
  ])('rejects an invalid config file: a file %s', async (_what, content, message) => {
    await writeFile(join(root, 'answers.json'), content);
    const { status, stdout, stderr } = await init('demo', '--config', '../answers.json');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be printed
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    expect(await writtenPaths()).toEqual(['answers.json']);
  });

  test.each([
    ['that never ends', '/dev/zero', 'the file is larger than 1 MB'],
    ['below a file', '/dev/null/answers.json', 'a part of the path is a file'],
    ['with a null character in its name', 'a\0b', 'Nothing was written.'],
  ])('rejects an unreadable config file: a file %s', async (_what, file, message) => {
    const { status, stderr } = await init('demo', '--config', file);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) });
    expect(await writtenPaths()).toEqual([]);
  });
});
