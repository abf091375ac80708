import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { OsAccount } from './account.ts';

/** PostgreSQL's programs inherit no variables, because those of the service may contain secrets. */
export const programEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' };

/** Returns the user and group for a child process. Empty if the child runs under the account of this process. */
export function getSpawnUidAndGid(account: OsAccount): { uid?: number; gid?: number } {
  return process.geteuid?.() === account.uid ? {} : { uid: account.uid, gid: account.gid };
}

/** Runs a PostgreSQL program until it exits. `output` is the end of its output, at most 4 KiB. */
export async function runPostgresProgram(options: {
  readonly file: string;
  readonly args: readonly string[];
  readonly account: OsAccount;
  readonly input: string;
}): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(options.file, options.args, {
    ...getSpawnUidAndGid(options.account),
    cwd: '/',
    env: programEnvironment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const note = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4096);
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  // Ignore the error if the program exits without reading its input. Its exit status reports the failure.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input);
  const [code] = await onceClosed(child);
  return { code, output };
}

async function onceClosed(child: ChildProcess): Promise<[number | null]> {
  const [code] = await once(child, 'close');
  return [typeof code === 'number' ? code : null];
}
