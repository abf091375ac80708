import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../run-program.ts';
import { cascadeOptions } from './cascade-options.ts';

/** Names, paths and config files that somebody chose badly or in bad faith: an error, and nothing on the disk. */
let root: string;
let directory: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'botcli-hostile-'));
  directory = join(root, 'here');
  await mkdir(directory);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const init = (...args: readonly string[]) => runProgram(['init', ...args], { directory });

/** Beside what a test put there. */
const left = async () => (await readdir(root, { recursive: true })).filter((path) => path !== 'here').sort();

describe('a name', () => {
  test.each([
    ['with a line break', 'a\nb = 1'],
    ['with a terminal’s commands', '\u001b[31mred'],
    ['that turns what is read around', 'bot\u202Etxt.exe'],
    ['with a lone half of a character', 'bot\uD800'],
    ['of 101 characters', 'a'.repeat(101)],
    ['without a letter for the agent', '!!!'],
    ['of one letter', 'a'],
    ['of a script that has no such letters', '机器人'],
    ['that is reserved', 'Webhooks'],
  ])('%s is refused, and shown without doing anything', async (_what, name) => {
    const { status, stdout, stderr } = await init('demo', ...cascadeOptions, '--name', name);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^ {2}project_name: "/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be there
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202E]/);
    expect(await left()).toEqual([]);
  });

  test.each(['', '  \t '])('%j is none, as for every option: status 2', async (name) => {
    expect(await init('demo', ...cascadeOptions, '--name', name)).toMatchObject({ status: 2, stdout: '' });
    expect(await left()).toEqual([]);
  });

  test.each(['../../x1', '/etc/passwd', 'C:\\x1', '../x1/..', '~/x1', '$(touch x1)', '-rf'])(
    '%s is a name and no path: the project is where it was asked for',
    async (name) => {
      expect((await init('demo', ...cascadeOptions, `--name=${name}`)).status).toBe(0);
      expect((await readdir(root)).sort()).toEqual(['here']);
      expect(await readdir(directory)).toEqual(['demo']);
    },
  );
});

describe('a directory', () => {
  test.each([
    ['whose name is too long', 'x'.repeat(300)],
    ['whose path is too long', `${'x/'.repeat(3000)}x`],
    ['below a device', '/dev/null/demo'],
  ])('%s is refused', async (_what, target) => {
    const { status, stdout, stderr } = await init(target, ...cascadeOptions, '--name', 'demo');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Nothing was written.');
    expect(await left()).toEqual([]);
  });

  test('that is a link in a circle is refused, and the link stays', async () => {
    await symlink('demo', join(directory, 'demo'));
    const { status, stderr } = await init('demo', ...cascadeOptions);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('Nothing was written.') });
    expect(await left()).toEqual(['here/demo']);
  });

  test('that is a link to nothing is refused, and nothing is made behind it', async () => {
    await symlink(join(root, 'elsewhere'), join(directory, 'demo'));
    const { status, stderr } = await init('demo', ...cascadeOptions);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('Nothing was written.') });
    expect(await left()).toEqual(['here/demo']);
  });
});

describe('a config file', () => {
  const answers = { transports: ['lightrtc'], mode: 'cascade', stt: 'deepgram_stt', llm: 'openai_llm' };

  test.each<[string, string | Buffer, string]>([
    ['that is empty', '', 'JSON'],
    ['of blanks', ' \n', 'JSON'],
    ['cut off', '{"mode": "casc', 'JSON'],
    ['with a comma too many', '{"mode": "cascade",}', 'JSON'],
    ['with two documents', '{} {}', 'JSON'],
    ['that is not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'it is not UTF-8'],
    ['of UTF-16', Buffer.from(JSON.stringify(answers), 'utf16le'), 'JSON'],
    ['of more than 1 MB', JSON.stringify({ mode: 'x'.repeat(1_000_000) }), 'it is larger than 1 MB'],
    ['nested deeply', '['.repeat(200_000), 'JSON'],
    [
      'that names the prototype',
      '{"__proto__": {"mode": "cascade"}, "constructor": 1}',
      '__proto__: is not a known key',
    ],
    ['with a terminal’s commands as a key', '{"\\u001b[31mred": 1}', 'is not a known key'],
    ['with a terminal’s commands as a value', JSON.stringify({ ...answers, tts: '\u001b[2J' }), 'tts_service: '],
    ['with a path as a service', JSON.stringify({ ...answers, tts: '../../etc/passwd' }), 'tts_service: '],
    ['with the name of a method as a service', JSON.stringify({ ...answers, tts: 'constructor' }), 'tts_service: '],
  ])('%s is refused', async (_what, content, says) => {
    await writeFile(join(root, 'answers.json'), content);
    const { status, stdout, stderr } = await init('demo', '--config', '../answers.json');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(says);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be there
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    expect(await left()).toEqual(['answers.json']);
  });

  test.each([
    ['that never ends', '/dev/zero', 'it is larger than 1 MB'],
    ['below a file', '/dev/null/answers.json', 'a part of the path is a file'],
    ['with a null character in its name', 'a\0b', 'Nothing was written.'],
  ])('%s is refused', async (_what, file, says) => {
    const { status, stderr } = await init('demo', '--config', file);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(says) });
    expect(await left()).toEqual([]);
  });
});
