import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { preparePythonTestEnvironment } from './tests/environment.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Cache directory for Python environments and results of mypy. It is kept between test runs. */
    pythonCache: string;
    python: string | undefined;
    /** Path of a directory that contains uv. Empty string if uv could not be installed. */
    uvFolder: string;
  }
}

/** Runs the Python tests of the host shim with the real Pipecat, and checks the code of the shim with ruff and mypy. */
const environment = await preparePythonTestEnvironment(inject('pythonCache'), inject('python'), inject('uvFolder'));

async function run(program: string, ...parameters: readonly string[]): Promise<{ status: number; output: string }> {
  if (environment.kind === 'missing') throw new Error(environment.reason);
  const command = [join(environment.bin, program), ...parameters];
  const child = spawn('/bin/sh', ['-c', 'exec "$@" 2>&1', 'sh', ...command], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { status: Number(status), output };
}

describe('the Python package bothost_shim', () => {
  beforeEach(({ skip }) => {
    if (environment.kind === 'missing') skip(environment.reason);
  });

  it.each([
    ['passes ruff format --check', 'ruff', ['format', '--check', '.', '../../examples/pipecat-echo']],
    ['passes ruff check', 'ruff', ['check', '.', '../../examples/pipecat-echo']],
    // Keep the mypy cache between runs, because checking the installed packages takes most of the time.
    ['passes mypy', 'mypy', ['--no-error-summary', '--cache-dir', join(inject('pythonCache'), 'mypy')]],
  ])('%s', async (_, program, parameters) => {
    expect(await run(program, ...parameters)).toMatchObject({ status: 0 });
  });

  it('passes its Python tests with the real Pipecat package', async ({ annotate }) => {
    const { status, output } = await run('pytest', '-q');
    await annotate(output.trim().split('\n').at(-1) ?? '');
    expect(status, output).toBe(0);
    expect(output).not.toMatch(/\d+ (?:skipped|deselected|xfailed|xpassed)\b/);
  });
});
