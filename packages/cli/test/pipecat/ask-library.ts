import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PipecatEnvironment } from './pipecat-environment.ts';

type RunOptions = { readonly directory?: string; readonly stdin?: string };

/**
 * Runs a program of a Python environment and returns the program's standard output.
 *
 * @throws Error with the end of the standard error output if the standard output is empty
 */
export async function runInLibraryEnvironment(
  environment: PipecatEnvironment,
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  if (environment.kind === 'missing') throw new Error(environment.reason);
  return run(join(environment.bin, program), args, options);
}

/** Runs a script in this directory in a Python environment, and parses the last line of its output as JSON. */
export async function runPipecatScript<Answer>(
  environment: PipecatEnvironment,
  script: string,
  question: unknown,
): Promise<Answer> {
  if (environment.kind === 'missing') throw new Error(environment.reason);
  return runPythonScript(join(environment.bin, 'python'), script, question);
}

/** Like `runPipecatScript`, but with a Python interpreter without packages. */
export async function runPythonScript<Answer>(python: string, script: string, question: unknown): Promise<Answer> {
  const answer = await run(python, [join(import.meta.dirname, script)], { stdin: JSON.stringify(question) });
  return JSON.parse(answer.trimEnd().split('\n').at(-1) ?? '');
}

async function run(program: string, args: readonly string[], { directory, stdin = '' }: RunOptions): Promise<string> {
  const child = spawn(program, args, { cwd: directory, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(stdin);
  const [answer, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (answer === '') throw new Error(stderr.slice(-2000));
  return answer;
}
