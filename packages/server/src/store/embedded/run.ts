import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Account } from './account.ts';

/** All that PostgreSQL's programs get of an environment: nothing of ours, which may hold secrets. */
export const bareEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' };

/** The user and group to start a program as; empty when that is who we are. */
export function asAccount(account: Account): { uid?: number; gid?: number } {
  return process.geteuid?.() === account.uid ? {} : { uid: account.uid, gid: account.gid };
}

/** Runs a program of PostgreSQL to its end. `output` is the end of what it said, at most 4 KiB. */
export async function run(options: {
  readonly file: string;
  readonly args: readonly string[];
  readonly account: Account;
  readonly input: string;
}): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(options.file, options.args, {
    ...asAccount(options.account),
    cwd: '/',
    env: bareEnvironment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const note = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4096);
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  // The program may end without reading: that shows in its exit status.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input);
  const [code] = await onceClosed(child);
  return { code, output };
}

async function onceClosed(child: ChildProcess): Promise<[number | null]> {
  const [code] = await once(child, 'close');
  return [typeof code === 'number' ? code : null];
}
