import { existsSync, readFileSync, statSync, watch } from 'node:fs';
import type { InstanceEnd } from '../../instance-end.ts';
import type { StartedProgram } from '../../spawner.ts';
import { hasEnded, type ProcessIdentity, readProcessStat } from '../proc/process-identity.ts';
import type { InstanceFiles } from '../records/instance-record.ts';
import { describeExitStatus, readExitStatusFile } from '../supervisor/supervisor.ts';

/** `supervisorStatus` is the exit status of a supervisor that this server started, or null if it is unknown. */
export type InstanceState =
  | { readonly state: 'running' | 'supervisor-stopped' }
  | { readonly state: 'ended'; readonly supervisorStatus: number | null };

/** Reads whether an instance has ended. `main` is the process of a forked bot, and null for a spawned bot. */
export function readInstanceState(instance: {
  readonly files: InstanceFiles;
  readonly main: ProcessIdentity | null;
  readonly supervisor: ProcessIdentity;
  readonly supervisorProgram: StartedProgram | null;
}): InstanceState {
  const { files, main, supervisor, supervisorProgram } = instance;
  if (main !== null) {
    // Do not check the supervisor's process: a forked bot can outlive it. The supervisor records the exit status of a bot before
    // it reaps the bot, so a reaped bot has a recorded status.
    const mainStat = readProcessStat(main.pid);
    const isReaped = mainStat === null || mainStat.startTicks !== main.startTicks;
    if (isReaped || readExitStatusFile(files.exit).state === 'exited')
      return { state: 'ended', supervisorStatus: null };
    if (!hasEnded(mainStat)) return { state: 'running' };
  }
  const stat = readProcessStat(supervisor.pid);
  if (stat !== null && stat.startTicks === supervisor.startTicks && !hasEnded(stat)) {
    return { state: stat.state === 'T' ? 'supervisor-stopped' : 'running' };
  }
  // The exit status of a supervisor that this server started becomes known only after its process has disappeared from `/proc`.
  // Until then, the instance counts as running.
  const end = supervisorProgram === null ? 'unknown' : supervisorProgram.end();
  if (end === null) return { state: 'running' };
  return { state: 'ended', supervisorStatus: end === 'unknown' ? null : end.code };
}

/** Calls `onExited` when the supervisor has written the exit status. Returns a function that stops watching. */
export function watchExitStatusFile(path: string, onExited: () => void, onError: (error: unknown) => void): () => void {
  try {
    const watcher = watch(path, { persistent: false }, () => {
      if (readExitStatusFile(path).state === 'exited') onExited();
    });
    watcher.on('error', onError);
    return () => watcher.close();
  } catch (error) {
    // `watch` fails, for example, at the limit of inotify watches (inotify(7)). The watchdog then finds the end of the instance
    // within a second.
    onError(error);
    return () => undefined;
  }
}

/** Determines the end from the exit file, else the supervisor's exit status, else whether this server killed it. */
export function determineInstanceEnd(
  files: InstanceFiles,
  supervisorStatus: number | null,
  killed: boolean,
): { readonly code: number | null; readonly signal: string | null; readonly at: string | null } {
  const file = readExitStatusFile(files.exit);
  if (file.state === 'exited') {
    const at = statSync(files.exit, { throwIfNoEntry: false })?.mtime.toISOString() ?? null;
    return { code: file.code, signal: file.signal, at };
  }
  if (supervisorStatus !== null) return { ...describeExitStatus(supervisorStatus), at: null };
  return { code: null, signal: killed ? 'SIGKILL' : null, at: null };
}

/** Determines how an instance ended that ran before the machine restarted. The end is now if its time is unknown. */
export function determineInstanceEndAfterReboot(files: InstanceFiles, now: Date, tail: string): InstanceEnd {
  const known = determineInstanceEnd(files, null, false);
  const at = known.at ?? now.toISOString();
  return { ...known, at, outOfMemory: existsSync(files.memoryKill), tail, diskLimit: readDiskLimitKillReason(files) };
}

export function readDiskLimitKillReason(files: InstanceFiles): string | undefined {
  try {
    return readFileSync(files.diskKill, 'utf8');
  } catch {
    return undefined;
  }
}
