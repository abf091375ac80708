import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { type RunOptions, runProgram } from '../run-program.ts';
import { cascadeBotOptions } from './cascade-bot-options.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-guides-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const botcli = (args: readonly string[], given: RunOptions = {}) => runProgram(args, { directory, ...given });
const read = (path: string) => readFile(join(directory, path), 'utf8');
const makeOlder = async (path: string) => {
  const text = await read(path);
  expect(text).toContain(`botcli init ${version}`);
  await writeFile(join(directory, path), text.replace(`botcli init ${version}`, 'botcli init 0.0.9'));
};

describe.each([
  ['options', 'demo', ['init', 'demo', ...cascadeBotOptions]],
  ['quickstart', 'botcli-quickstart', ['init', 'quickstart']],
])('init with an existing GETTING_STARTED.md and the arguments: %s', (_, target, line) => {
  const path = `${target}/GETTING_STARTED.md`;
  beforeEach(async () => {
    await botcli(['init', `./${target}`]);
  });

  test('overwrites the guide with --overwrite-guide', async () => {
    const whole = await read(path);
    await writeFile(join(directory, path), 'mine');
    const { stdout } = await botcli([...line, '--overwrite-guide', '--json']);
    expect(await read(path)).toBe(whole);
    expect(JSON.parse(stdout).guides).toContainEqual({ path: 'GETTING_STARTED.md', state: 'overwritten' });
  });

  test('keeps the guide without --overwrite-guide, and reports that it is outdated', async () => {
    await makeOlder(path);
    const older = await read(path);
    const { stderr } = await botcli(line);
    expect(stderr).toMatch(/^GETTING_STARTED\.md was written by version 0\.0\.9 and was kept\. --overwrite-guide/m);
    expect(await read(path)).toBe(older);
  });
});

test('a generated project has no GETTING_STARTED.md', async () => {
  const { stdout } = await botcli(['init', 'demo', ...cascadeBotOptions, '--overwrite-guide', '--json']);
  expect(JSON.parse(stdout).guides.map(({ path }: { path: string }) => path)).toEqual(['AGENTS.md', 'ASSISTANT.md']);
});

describe('init on a terminal, with guides (AGENTS.md, GETTING_STARTED.md) of an older version', () => {
  test.each([
    [true, false],
    [false, true],
  ])('"init quickstart" asks whether to replace the guides (answer: %s, guides kept: %s)', async (answer, kept) => {
    await botcli(['init', './botcli-quickstart']);
    const paths = ['botcli-quickstart/AGENTS.md', 'botcli-quickstart/GETTING_STARTED.md'];
    for (const path of paths) await makeOlder(path);
    const { status, stderr } = await botcli(['init', 'quickstart'], { terminal: true, answers: [answer] });
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: '? AGENTS.md, GETTING_STARTED.md: written by an older version. Replace?\n',
    });
    for (const path of paths) expect((await read(path)).includes('botcli init 0.0.9')).toBe(kept);
  });

  test('asks in the wizard whether to replace the guides, including GETTING_STARTED.md', async () => {
    await botcli(['init', 'demo']);
    await makeOlder('demo/GETTING_STARTED.md');
    const bot = 'demo web none lightrtc hostedrtc cascade deepgram_stt openai_llm cartesia_tts'.split(' ');
    const answers = ['wizard', ...bot, ['deploy_to_cloud'], 'create', true];
    const { stderr } = await botcli(['init', 'demo'], { terminal: true, answers });
    expect(stderr).toContain('? GETTING_STARTED.md: written by an older version');
    expect(await read('demo/GETTING_STARTED.md')).toContain(`botcli init ${version}`);
  });

  test('keeps the guides without asking if options are given', async () => {
    await botcli(['init', 'demo']);
    await makeOlder('demo/AGENTS.md');
    expect((await botcli(['init', 'demo', ...cascadeBotOptions], { terminal: true })).status).toBe(0);
    expect(await read('demo/AGENTS.md')).toContain('botcli init 0.0.9');
  });
});
