import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { type StartedProgram, startProgram } from '../../spawner.ts';
import type { CpuPriority } from '../containment/cgroup.ts';
import { wrapWithLowerPriority } from '../containment/niceness.ts';
import { wrapWithoutNewPrivileges } from '../containment/no-new-privileges.ts';
import {
  rootProcessEnvironmentVariables,
  type TmpDirectories,
  wrapWithPrivateTmp,
} from '../containment/private-tmp.ts';
import { findPerl, passEnvironmentThroughShell } from './shell-environment.ts';

/**
 * Shell script of a supervisor, the parent process of a bot. A supervisor outlives the server and writes the bot's exit status
 * to descriptor 3. It starts the bot only after it has read a line from the server, so that the server can first move the
 * supervisor to the instance's control groups and record it. If the server is killed before that, the supervisor exits.
 *
 * Signals are caught, because children would inherit ignored signals. `$1` is the maximum number of processes of the account
 * (0: no limit). The other arguments are the bot's command.
 */
const supervisorScript = `
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

/** Reads variables from standard input: root's programs must not have them, and every account can read arguments. */
const readEnvironment = `
IFS= read -r BOTHOST_GO || exit 0
n='
'
unset PATH
eval "$BOTHOST_GO"
`;

/**
 * Returns a line of shell code that exports the variables. The line must not contain line breaks, so a line break in a value is
 * written as the shell variable `$n`, which `readEnvironment` sets. The bot may have a variable named `n` too: the shell
 * expands all arguments of `export` before it assigns any of them.
 */
function exportLine(environment: Readonly<Record<string, string>>): string {
  const quote = (value: string) => `'${value.replaceAll("'", `'\\''`).replaceAll('\n', `'"$n"'`)}'`;
  return `export ${Object.entries(environment)
    .map(([name, value]) => `${name}=${quote(value)}`)
    .join(' ')}\n`;
}

/** Spaces that reserve room for the exit status, so that it can be written even when the disk is full. */
const unwritten = '    ';

export type SupervisorOptions = {
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly account: { readonly uid: number; readonly gid: number } | null;
  readonly exitPath: string;
  readonly outputPath: string;
  /** Directories that the command sees as `/tmp` and `/var/tmp`. Requires `account`. Default: the directories of the machine. */
  readonly tmpDirectories?: TmpDirectories | null;
  readonly processLimit: number;
  /** CPU priority of the supervisor and its command, lower than the service's. Null: the same as the service's. */
  readonly priority: CpuPriority | null;
};

/**
 * Starts a shell as the supervisor of a command. The shell runs the command only when `startSupervisedCommand` is called.
 * Rejects if the shell cannot be started or cannot pass on an environment variable to the command.
 */
export async function startSupervisor(options: SupervisorOptions): Promise<StartedProgram> {
  const program = options.account === null ? options.command : wrapWithoutNewPrivileges(options.command);
  const { environment, command } = passEnvironmentThroughShell(options.environment, program, findPerl());
  writeFileSync(options.exitPath, unwritten, { mode: 0o600 });
  mkdirSync(dirname(options.outputPath), { recursive: true, mode: 0o700 });
  const { account, tmpDirectories = null } = options;
  const isPrepared = account !== null && tmpDirectories !== null;
  const script = isPrepared ? readEnvironment + supervisorScript : supervisorScript;
  const shell = ['/bin/sh', '-c', script, 'bothost-supervisor', String(options.processLimit), ...command] as const;
  const prepared = isPrepared ? wrapWithPrivateTmp(tmpDirectories, account, shell) : shell;
  return startProgram(options.priority === null ? prepared : wrapWithLowerPriority(options.priority, prepared), {
    cwd: options.directory,
    env: isPrepared ? rootProcessEnvironmentVariables : environment,
    outputPath: options.outputPath,
    exitPath: options.exitPath,
    input: isPrepared ? exportLine(environment) : '',
    // Node drops the supplementary groups when it changes the user id.
    ...(isPrepared ? {} : account),
  });
}

/** Makes a supervisor process start its command, by sending the line for which it waits on its standard input. */
export function startSupervisedCommand(supervisor: StartedProgram): void {
  supervisor.closeInput('go\n');
}

/** State of the command according to its exit file. The state stays `running` if the supervisor was killed. */
export type RecordedCommandState =
  | { readonly state: 'unstarted' | 'running' }
  | { readonly state: 'exited'; readonly code: number | null; readonly signal: string | null };

export function readExitStatusFile(path: string): RecordedCommandState {
  let text: string;
  try {
    text = readFileSync(path, 'latin1');
  } catch {
    return { state: 'unstarted' };
  }
  return parseExitStatusFile(text);
}

/**
 * Parses an exit file. Before the command runs, the file is empty or contains only spaces. While the command runs, the file
 * begins with `r`. After the command has exited, its exit status follows the `r`.
 */
export function parseExitStatusFile(text: string): RecordedCommandState {
  if (!text.startsWith('r')) return { state: 'unstarted' };
  const status = /^r *(\d{1,3})$/.exec(text)?.[1];
  return status === undefined ? { state: 'running' } : { state: 'exited', ...describeExitStatus(Number(status)) };
}

/** Describes an exit status. A shell reports an end by signal n as status 128 + n. */
export function describeExitStatus(status: number): { readonly code: number | null; readonly signal: string | null } {
  const signal = Object.entries(constants.signals).find(([, number]) => number === status - 128)?.[0];
  return signal === undefined ? { code: status, signal: null } : { code: null, signal };
}
