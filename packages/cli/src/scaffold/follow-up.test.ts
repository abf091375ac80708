import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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

test('the next steps name the package manager that ran the program', async () => {
  const variables = { npm_config_user_agent: 'pnpm/10.1.0 npm/? node/v22' };
  const { stdout } = await runProgram(['init', 'demo', ...choices, '--client-framework', 'vanilla'], {
    directory,
    variables,
  });
  expect(stdout).toContain('pnpm install && pnpm run dev');
});
