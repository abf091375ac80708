import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parseExitFile, readExitFile, startSupervisor } from './supervisor.ts';

async function keep(...command: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-supervisor-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const exitPath = join(directory, 'exit');
  const outputPath = join(directory, 'output');
  const environment = { PATH: '/usr/bin:/bin' };
  const supervisor = await startSupervisor({
    command,
    directory,
    environment,
    account: null,
    exitPath,
    outputPath,
    processLimit: 0,
  });
  return { ...supervisor, ended: once(supervisor.child, 'close'), exitPath, outputPath };
}

it.each([
  ['', { state: 'unstarted' }],
  ['    ', { state: 'unstarted' }],
  ['r   ', { state: 'running' }],
  ['r  0', { state: 'exited', code: 0, signal: null }],
  ['r 78', { state: 'exited', code: 78, signal: null }],
  ['r143', { state: 'exited', code: null, signal: 'SIGTERM' }],
  ['r255', { state: 'exited', code: 255, signal: null }],
])('reads the exit file %j', (text, expected) => {
  expect(parseExitFile(text)).toEqual(expected);
});

it('runs nothing when the server dies before it said go', async () => {
  const { child, ended, exitPath, outputPath } = await keep('/bin/echo', 'ran');
  child.stdin?.end();
  await ended;
  expect(readExitFile(exitPath)).toEqual({ state: 'unstarted' });
  expect(await readFile(outputPath, 'utf8')).toBe('');
});

it('passes its arguments on as they are', async () => {
  const { go, ended, outputPath } = await keep('/bin/echo', '$(id)', '; exit 9', 'a  b', '-n');
  go();
  await ended;
  expect(await readFile(outputPath, 'utf8')).toBe('$(id) ; exit 9 a  b -n\n');
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('outlives %s and still writes the status down', async (signal) => {
  const { pid, go, ended, exitPath } = await keep(
    '/bin/sh',
    '-c',
    `trap 'exit 5' TERM; kill -${signal.slice(3)} $PPID; exit 5`,
  );
  go();
  expect(await ended).toEqual([5, null]);
  expect(pid).toBeGreaterThan(1);
  expect(readExitFile(exitPath)).toEqual({ state: 'exited', code: 5, signal: null });
});

it('says that a command does not exist, as a shell does', async () => {
  const { go, ended, exitPath, outputPath } = await keep('/does/not/exist');
  go();
  await ended;
  expect(readExitFile(exitPath)).toEqual({ state: 'exited', code: 127, signal: null });
  expect(await readFile(outputPath, 'utf8')).toContain('not found');
});
