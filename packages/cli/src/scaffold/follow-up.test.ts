import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runProgram } from '../testing/run-program.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-follow-up-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const choices = ['-t', 'lightrtc', '-m', 'realtime', '--realtime', 'openai_realtime'];
const git = (place: string, ...args: readonly string[]) =>
  execFileSync('git', args, { cwd: join(directory, place), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

test('--git makes a repository that holds the project and no secret', async () => {
  const { status } = await runProgram(['init', 'demo', ...choices, '--git'], { directory });
  expect(status).toBe(0);
  const staged = git('demo', 'ls-files').split('\n');
  expect(staged).toContain('server/bot.py');
  expect(staged).toContain('.botcli/project.json');
});

test('within a repository --git makes no second one', async () => {
  await mkdir(join(directory, 'outer'));
  git('outer', 'init', '--quiet');
  await runProgram(['init', 'outer/demo', ...choices, '--git'], { directory });
  expect(git('outer/demo', 'rev-parse', '--show-toplevel').trim()).toMatch(/outer$/);
  expect(git('outer', 'status', '--short').trim()).toBe('?? demo/');
});

test.each([
  [
    'the wizard',
    ['demo', 'wizard', ...['', 'web', 'none', 'lightrtc', 'none', 'realtime', 'openai_realtime'], [], 'make'],
    'server/bot.py',
  ],
  ['guides for a coding agent', ['demo', 'agent'], 'AGENTS.md'],
])('--git makes a repository for %s, too', async (_what, answers, holds) => {
  const { status } = await runProgram(['init', '--git'], { directory, terminal: true, answers });
  expect(status).toBe(0);
  expect(git('demo', 'ls-files').split('\n')).toContain(holds);
});

test('--git makes one for the quickstart', async () => {
  await runProgram(['init', 'quickstart', '--git'], { directory });
  expect(git('botcli-quickstart', 'ls-files').split('\n')).toContain('server/bot.py');
});

test('Ctrl-C while git works ends it with 130, and the project stays', async () => {
  const interruption = new AbortController();
  const onStderr = (text: string) => {
    if (text.startsWith('git init')) interruption.abort();
  };
  const given = { directory, signal: interruption.signal, onStderr };
  const { status, stdout, stderr } = await runProgram(['init', 'demo', ...choices, '--git'], given);
  expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
  expect(stderr).toContain('The project is there all the same');
  expect(stderr).not.toContain('git add');
  expect(existsSync(join(directory, 'demo/server/bot.py'))).toBe(true);
});

test('--install for guides says that there is nothing to install', async () => {
  const answers = ['demo', 'agent'];
  const { stderr } = await runProgram(['init', '--install'], { directory, terminal: true, answers });
  expect(stderr).toContain('nothing to install yet');
});

test.each([
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['package-lock.json', 'npm'],
])('beside a %s the next steps name %s', async (lock, manager) => {
  await writeFile(join(directory, lock), '');
  const { stdout } = await runProgram(['init', 'demo', ...choices, '--client-framework', 'vanilla'], { directory });
  expect(stdout).toContain(`${manager} install && ${manager} run dev`);
});

test('the next steps name the package manager that ran the program', async () => {
  const variables = { npm_config_user_agent: 'pnpm/10.1.0 npm/? node/v22' };
  const { stdout } = await runProgram(['init', 'demo', ...choices, '--client-framework', 'vanilla'], {
    directory,
    variables,
  });
  expect(stdout).toContain('pnpm install && pnpm run dev');
});
