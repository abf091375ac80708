import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { findPerl, passThroughShell } from './shell-environment.ts';

/**
 * The supervisor is the parent of a bot's main process: a shell that outlives the server and writes the exit status to a
 * file. It starts nothing before it has read a line. So the supervisor is in its control groups before the bot exists, and a
 * server that is killed before it has written the record leaves nothing running.
 *
 * Descriptor 3 is the exit file. The shell's own messages, for example that a signal ended the bot, do not go to the bot's
 * output. Signals are caught instead of ignored, because children inherit ignored signals. `$1` limits the number of
 * processes of the account (0: no limit); the other arguments are the command.
 */
const SCRIPT = `
IFS= read -r BOTHOST_GO || exit 0
trap : HUP INT QUIT TERM USR1 USR2
exec </dev/null
[ "$1" = 0 ] || { ulimit -u "$1" || ulimit -p "$1"; } 2>/dev/null
shift
ulimit -c 0 2>/dev/null
{ echo 300 >/proc/self/oom_score_adj; } 2>/dev/null
printf r >&3
exec 4>&2 2>/dev/null
(exec "$@" 2>&4 3>&- 4>&-)
status=$?
printf '%3d' "$status" >&3
exit "$status"
`;

/** Path of setpriv. Null on a machine without util-linux, where setuid programs can give a bot more rights. */
export function findSetpriv(): string | null {
  return ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path)) ?? null;
}

/**
 * Keeps a program with a separate account from gaining rights by setuid files (prctl(2), PR_SET_NO_NEW_PRIVS). User ids
 * are reused, so a setuid file that an earlier bot left in /tmp would otherwise run as the current owner of that id.
 */
function withoutNewRights(command: readonly string[]): readonly string[] {
  const setpriv = findSetpriv();
  return setpriv === null ? command : [setpriv, '--no-new-privs', ...command];
}

/** Reserves the bytes of the status, so that it can be written to a full disk. */
const UNWRITTEN = '    ';

export type SupervisorOptions = {
  readonly command: readonly string[];
  readonly directory: string;
  /** The environment of the command. A shell may add some variables (`PWD`). */
  readonly environment: Readonly<Record<string, string>>;
  readonly account: { readonly uid: number; readonly gid: number } | null;
  readonly exitPath: string;
  readonly outputPath: string;
  /** Maximum number of processes of the account. 0 means no limit. */
  readonly processLimit: number;
};

/**
 * Starts a supervisor that runs its command after `go`. Rejects if the shell cannot be started or cannot pass on a
 * variable.
 */
export async function startSupervisor(
  options: SupervisorOptions,
): Promise<{ pid: number; child: ChildProcess; go: () => void }> {
  const program = options.account === null ? options.command : withoutNewRights(options.command);
  const { environment, command } = passThroughShell(options.environment, program, findPerl());
  const exitFile = openSync(options.exitPath, 'w', 0o600);
  mkdirSync(dirname(options.outputPath), { recursive: true, mode: 0o700 });
  const output = openSync(options.outputPath, 'a', 0o600);
  try {
    writeSync(exitFile, UNWRITTEN, 0);
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'bothost-supervisor', String(options.processLimit), ...command], {
      cwd: options.directory,
      env: environment,
      detached: true,
      stdio: ['pipe', output, output, exitFile],
      // Node drops the supplementary groups when it changes the user id.
      ...(options.account ?? {}),
    });
    if (child.pid === undefined) {
      const [error] = await once(child, 'error');
      throw error;
    }
    child.unref();
    const { stdin } = child;
    stdin?.on('error', () => undefined);
    return { pid: child.pid, child, go: () => stdin?.end('go\n') };
  } finally {
    closeSync(exitFile);
    closeSync(output);
  }
}

/** Reads the state of the command from its exit file. The state stays `running` if the supervisor was killed. */
export type ExitFile =
  | { readonly state: 'unstarted' | 'running' }
  | { readonly state: 'exited'; readonly code: number | null; readonly signal: string | null };

export function readExitFile(path: string): ExitFile {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch {
    return { state: 'unstarted' };
  }
  return parseExitFile(text);
}

/** Describes an exit status. A shell reports an end by signal n as status 128 + n. */
export function parseExitFile(text: string): ExitFile {
  if (!text.startsWith('r')) return { state: 'unstarted' };
  const status = /^r *(\d{1,3})$/.exec(text)?.[1];
  return status === undefined ? { state: 'running' } : { state: 'exited', ...describeStatus(Number(status)) };
}

export function describeStatus(status: number): { readonly code: number | null; readonly signal: string | null } {
  const signal = Object.entries(constants.signals).find(([, number]) => number === status - 128)?.[0];
  return signal === undefined ? { code: status, signal: null } : { code: null, signal };
}
