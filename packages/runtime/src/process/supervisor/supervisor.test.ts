import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDirectory } from '../../../test/test-directory.ts';
import { parseExitStatusFile, readExitStatusFile, startSupervisedCommand, startSupervisor } from './supervisor.ts';

async function supervise(...command: readonly string[]) {
  const directory = await createTestDirectory();
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
    priority: null,
  });
  return { supervisor, exitPath, outputPath };
}

it.each([
  ['', { state: 'unstarted' }],
  ['    ', { state: 'unstarted' }],
  ['r   ', { state: 'running' }],
  ['r  0', { state: 'exited', code: 0, signal: null }],
  ['r 78', { state: 'exited', code: 78, signal: null }],
  ['r143', { state: 'exited', code: null, signal: 'SIGTERM' }],
  ['r255', { state: 'exited', code: 255, signal: null }],
])('parseExitStatusFile parses the exit file %j', (text, expected) => {
  expect(parseExitStatusFile(text)).toEqual(expected);
});

it('the supervisor never runs the command if the server dies before releasing the supervisor', async () => {
  const { supervisor, exitPath, outputPath } = await supervise('/bin/echo', 'ran');
  supervisor.closeInput('');
  await supervisor.ended;
  expect(readExitStatusFile(exitPath)).toEqual({ state: 'unstarted' });
  expect(await readFile(outputPath, 'utf8')).toBe('');
});

it('the supervisor passes arguments to the command unchanged', async () => {
  const { supervisor, outputPath } = await supervise('/bin/echo', '$(id)', '; exit 9', 'a  b', '-n');
  startSupervisedCommand(supervisor);
  await supervisor.ended;
  expect(await readFile(outputPath, 'utf8')).toBe('$(id) ; exit 9 a  b -n\n');
});

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'the supervisor survives the signal %s and records the exit status of the command',
  async (signal) => {
    const { supervisor, exitPath } = await supervise(
      '/bin/sh',
      '-c',
      `trap 'exit 5' TERM; kill -${signal.slice(3)} $PPID; exit 5`,
    );
    startSupervisedCommand(supervisor);
    expect(await supervisor.ended).toEqual({ code: 5, signal: null });
    expect(readExitStatusFile(exitPath)).toEqual({ state: 'exited', code: 5, signal: null });
  },
);

it('the supervisor reports a missing command with status 127, like a shell', async () => {
  const { supervisor, exitPath, outputPath } = await supervise('/does/not/exist');
  startSupervisedCommand(supervisor);
  await supervisor.ended;
  expect(readExitStatusFile(exitPath)).toEqual({ state: 'exited', code: 127, signal: null });
  expect(await readFile(outputPath, 'utf8')).toContain('not found');
});
