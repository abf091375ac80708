import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LibraryEnvironment } from './library-environment.ts';

/** What a program of the environment writes. @throws Error where it writes nothing, with the end of what it complained of */
export async function runInLibrary(
  environment: LibraryEnvironment,
  program: string,
  args: readonly string[],
  { directory, stdin = '' }: { readonly directory?: string; readonly stdin?: string } = {},
): Promise<string> {
  if (environment.kind === 'missing') throw new Error(environment.reason);
  const child = spawn(join(environment.bin, program), args, { cwd: directory, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(stdin);
  const [answer, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (answer === '') throw new Error(said.slice(-2000));
  return answer;
}

/** What a script of this folder answers: JSON, in its last line. */
export async function askLibrary<Answer>(
  environment: LibraryEnvironment,
  script: string,
  question: unknown,
): Promise<readonly Answer[]> {
  const stdin = JSON.stringify(question);
  const answer = await runInLibrary(environment, 'python', [join(import.meta.dirname, script)], { stdin });
  return JSON.parse(answer.trimEnd().split('\n').at(-1) ?? '');
}
