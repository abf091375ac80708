import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestDirectory } from '../test/test-directory.ts';
import { getSpawnerPid, runProgram, startProgram } from './spawner.ts';

const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' } };
const shell = (script: string) => ['sh', '-c', script];

async function start(script: string) {
  const directory = await createTestDirectory();
  const [outputPath, exitPath] = [join(directory, 'output'), join(directory, 'exit')];
  await writeFile(exitPath, '    ');
  const program = await startProgram(shell(script), { ...options, outputPath, exitPath, input: 'first\n' });
  return { program, outputPath, exitPath };
}

describe('runProgram', () => {
  it('returns the exit status and the output', async () => {
    const result = await runProgram(shell('echo "$HOME $PWD"; echo wrong >&2; exit 3'), {
      cwd: '/usr',
      env: { ...options.env, HOME: '/hömé' },
    });
    expect(result).toEqual({ code: 3, signal: null, stdout: '/hömé /usr\n', stderr: 'wrong\n' });
  });

  it('rejects with the code ENOENT if the program does not exist', async () => {
    await expect(runProgram(['/does/not/exist'], options)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('rejects with the code E2BIG if an argument is too long', async () => {
    await expect(runProgram(['true', 'x'.repeat(1_048_576)], options)).rejects.toMatchObject({ code: 'E2BIG' });
  });

  it('kills a program that stops printing for too long, and returns its earlier output', async () => {
    const running = runProgram(shell('echo before; exec sleep 1000'), { ...options, stallMs: 200 });
    expect(await running).toMatchObject({ code: null, signal: 'SIGKILL', stdout: 'before\n' });
  });

  it('kills a program that prints nothing to standard output for too long, even if it prints to standard error', async () => {
    const script = 'while echo still running >&2; do sleep 0.05; done';
    expect(await runProgram(shell(script), { ...options, stallMs: 500 })).toMatchObject({ signal: 'SIGKILL' });
  });

  it('kills a program that prints more than 64 Mi characters', async () => {
    const { signal, stdout } = await runProgram(['yes'], options);
    expect(signal).toBe('SIGKILL');
    expect(stdout.length).toBeLessThan(65 * 1024 * 1024);
  });

  it('kills a program when the signal aborts', async () => {
    const controller = new AbortController();
    const running = runProgram(shell('exec sleep 1000'), { ...options, signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ signal: 'SIGKILL' });
  });
});

describe('startProgram', () => {
  it('passes the input to the program, and stores its output and exit status in files', async () => {
    const { program, outputPath, exitPath } = await start(
      'read a; read b; echo "$a $b"; echo no >&2; printf 7 >&3; exit 7',
    );
    expect(program.end()).toBeNull();
    program.closeInput('second\n');
    expect(await program.ended).toEqual({ code: 7, signal: null });
    expect(program.end()).toEqual({ code: 7, signal: null });
    expect(await readFile(outputPath, 'utf8')).toBe('first second\nno\n');
    expect(await readFile(exitPath, 'utf8')).toBe('7   ');
  });

  it('rejects if the program or the file for the exit status does not exist', async () => {
    const { outputPath, exitPath } = await start('exit');
    const files = { outputPath, exitPath, input: '' };
    await expect(startProgram(['/does/not/exist'], { ...options, ...files })).rejects.toMatchObject({ code: 'ENOENT' });
    const missing = { ...files, exitPath: `${exitPath}.missing` };
    await expect(startProgram(['true'], { ...options, ...missing })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('leaves no file open in the spawner after it rejects', async () => {
    const { outputPath, exitPath } = await start('exit');
    const files = { outputPath, exitPath: `${exitPath}.missing`, input: '' };
    await expect(startProgram(['true'], { ...options, ...files })).rejects.toMatchObject({ code: 'ENOENT' });
    const directory = `/proc/${getSpawnerPid()}/fd`;
    for (const descriptor of readdirSync(directory)) {
      const link = join(directory, descriptor);
      // The descriptors of other files can be closed meanwhile.
      if (existsSync(link)) expect(readlinkSync(link)).not.toBe(outputPath);
    }
  });

  it('returns a function that kills the program', async () => {
    const { program } = await start('exec sleep 1000');
    program.kill();
    expect(await program.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

function signalSpawner(signal: NodeJS.Signals): void {
  const pid = getSpawnerPid();
  if (pid === null) throw new Error('There is no spawner.');
  process.kill(pid, signal);
}

describe('the spawner', () => {
  it.each(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const)('ignores the signal %s', async (signal) => {
    await runProgram(['true'], options);
    const pid = getSpawnerPid();
    signalSpawner(signal);
    expect(await runProgram(shell('echo again'), options)).toMatchObject({ stdout: 'again\n' });
    expect(getSpawnerPid()).toBe(pid);
  });
});

describe('a killed spawner', () => {
  it('is replaced, and the programs that it started keep running', async () => {
    const { program, outputPath } = await start('read line; read end; echo survived');
    signalSpawner('SIGKILL');
    expect(await program.ended).toBe('unknown');
    expect(program.end()).toBe('unknown');
    expect(await runProgram(shell('echo again'), options)).toMatchObject({ stdout: 'again\n' });
    await expect.poll(() => readFile(outputPath, 'utf8')).toBe('survived\n');
  });

  it('leaves its unfinished programs to the next spawner, which runs them again', async () => {
    const directory = await createTestDirectory();
    const pidFile = join(directory, 'pid');
    const script = `if [ -e ${pidFile} ]; then echo again; else echo $$ >${pidFile}; exec sleep 1000; fi`;
    const running = runProgram(shell(script), options);
    await expect.poll(() => existsSync(pidFile) && readFile(pidFile, 'utf8')).toMatch(/\n/);
    signalSpawner('SIGKILL');
    expect(await running).toMatchObject({ code: 0, stdout: 'again\n' });
    process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGKILL');
  });
});
