import type { ChildProcess } from 'node:child_process';
import { existsSync, type FSWatcher, readFileSync, statSync, watch, writeFileSync } from 'node:fs';
import { removeCgroups } from '../containment/cgroup.ts';
import { type Containment, openContainment } from '../containment/containment.ts';
import type { KernelUnits } from '../containment/kernel-units.ts';
import { killUntilEmpty, signalAll } from '../containment/kill.ts';
import type { MonotonicClock } from '../output/monotonic-clock.ts';
import { type Output, openOutput } from '../output/output.ts';
import { hasEnded, isAlive, type ProcessIdentity, readProcessStat } from '../proc/process-identity.ts';
import { readProcessTable } from '../proc/process-table.ts';
import { describeStatus, readExitFile } from '../supervisor/supervisor.ts';
import { type InstanceEnd, type InstanceFiles, type InstanceRecord, writeEnd, writeRecord } from './instance-record.ts';

/**
 * Time to wait for the supervisor to write the exit status before it is killed too. A bot may have stopped it with
 * SIGSTOP.
 */
const SUPERVISOR_GRACE_MILLISECONDS = 1000;

export type InstanceOptions = {
  readonly files: InstanceFiles;
  readonly record: InstanceRecord;
  readonly supervisor: ProcessIdentity;
  /** The supervisor as a child of this server. Null if an earlier server started it, or if the bot was forked. */
  readonly child: ChildProcess | null;
  /** Whether this server forked the bot. */
  readonly isForked?: boolean;
  /** The recorded end, or null. If it is set, no process of the instance is running. */
  readonly end: InstanceEnd | null;
  readonly units: KernelUnits;
  readonly outputLimitBytes: number;
  readonly clock: MonotonicClock;
  readonly searchPath: string;
  readonly now: () => Date;
  readonly onDropped: (bytes: number) => void;
  readonly onEnded: (end: InstanceEnd) => void;
  readonly onError: (error: unknown, message: string) => void;
};

/** An instance that this server started or adopted, running or ended. */
export type Instance = {
  readonly files: InstanceFiles;
  readonly record: () => InstanceRecord;
  readonly update: (change: Partial<InstanceRecord>) => void;
  readonly containment: Containment;
  readonly output: Output;
  /** Null while the instance runs. */
  readonly end: () => InstanceEnd | null;
  readonly ended: Promise<InstanceEnd>;
  /** Whether the command of the instance was started. */
  readonly hasRun: () => boolean;
  /**
   * Checks whether the supervisor is running. There is no exit event for a supervisor that an earlier server started.
   */
  readonly check: () => void;
  readonly stop: (graceMilliseconds: number) => Promise<void>;
  /** Kills the instance because it exceeds its memory limit. */
  readonly killForMemory: () => void;
  /** Kills the instance because it exceeds a disk limit. `reason` is a sentence for the agent's owner. */
  readonly killForDisk: (reason: string) => void;
  /** Closes the files, after the end is stored if it is being recorded. The instance keeps running. */
  readonly close: () => Promise<void>;
};

export function openInstance(options: InstanceOptions): Instance {
  const { files, supervisor, child, onError } = options;
  const { main } = options.record;
  let record = options.record;
  let end = options.end;
  let finishing: Promise<void> | null = null;
  let isClosed = false;
  let killed = false;
  let diskLimit = readDiskKill(files);
  let resolveEnded: (end: InstanceEnd) => void = () => undefined;
  const ended = new Promise<InstanceEnd>((resolve) => {
    resolveEnded = resolve;
  });
  const containment = openContainment(record, main ?? supervisor, options.units);
  const output = openOutput({
    files,
    clock: options.clock,
    searchPath: options.searchPath,
    limitBytes: options.outputLimitBytes,
    adopted: child === null && options.isForked !== true,
    onDropped: options.onDropped,
    onError: (error) => onError(error, 'output could not be followed'),
  });

  const onStuck = (pids: readonly number[]) =>
    onError(new Error(`Processes survive SIGKILL: ${pids.join(', ')}`), 'instance could not be killed');

  const finish = async (supervisorStatus: number | null) => {
    await killUntilEmpty(containment, null, onStuck);
    output.finish();
    const known = describeEnd(files, supervisorStatus, killed);
    const outOfMemory = known.code !== 0 && (containment.memoryKills() > 0 || existsSync(files.memoryKill));
    end = { ...known, at: known.at ?? options.now().toISOString(), outOfMemory, tail: output.tail(), diskLimit };
    try {
      writeEnd(files, end);
      containment.close();
      if (record.cgroups !== null) removeCgroups(record.cgroups);
    } catch (error) {
      // For example, because the disk is full. The control groups stay, so that the next server determines the same
      // end.
      onError(error, 'end of instance could not be recorded');
    }
    close();
    resolveEnded(end);
    options.onEnded(end);
  };
  const finishOnce = (supervisorStatus: number | null) => {
    if (isClosed) return;
    finishing ??= finish(supervisorStatus).catch((error: unknown) => onError(error, 'instance could not be ended'));
  };

  const check = () => {
    if (end !== null || finishing !== null) return;
    output.poll();
    if (main !== null) {
      // A forked bot keeps running without its supervisor. The supervisor records the exit status before it reaps the
      // process, and records none for a process that never ran the bot.
      const mainStat = readProcessStat(main.pid);
      const isReaped = mainStat === null || mainStat.startTicks !== main.startTicks;
      if (isReaped || readExitFile(files.exit).state === 'exited') return finishOnce(null);
      if (!hasEnded(mainStat)) return;
    }
    const stat = readProcessStat(supervisor.pid);
    if (stat === null || stat.startTicks !== supervisor.startTicks || hasEnded(stat)) {
      // The exit status of a child of this server arrives with its exit event.
      if (child === null || child.exitCode !== null || child.signalCode !== null) finishOnce(child?.exitCode ?? null);
    } else if (stat.state === 'T') {
      // Resume the supervisor. A bot that shares the service's account can stop its supervisor, which would then miss
      // the bot's end.
      signalAll([supervisor], 'SIGCONT');
    }
  };

  const kill = async () => {
    killed = true;
    if (isAlive(supervisor)) signalAll([supervisor], 'SIGCONT');
    // Exclude the supervisor of a forked bot, because it serves other instances too.
    const hasStatusToWrite = main === null && readExitFile(files.exit).state === 'running' && isAlive(supervisor);
    await killUntilEmpty(containment, hasStatusToWrite ? supervisor.pid : null, onStuck);
    if (await settlesWithin(ended, SUPERVISOR_GRACE_MILLISECONDS)) return;
    signalAll(containment.members(readProcessTable), 'SIGKILL');
    if (main === null) check();
    else finishOnce(null);
    await ended;
  };

  /** Record the reason before the kill, so that the next server knows it if this server is killed here. */
  const killFor = (path: string, reason: string) => {
    if (end !== null || finishing !== null) return;
    try {
      writeFileSync(path, reason, { mode: 0o600 });
    } catch (error) {
      onError(error, 'the reason for a kill could not be recorded');
    }
    kill().catch((error: unknown) => onError(error, 'instance above a limit could not be killed'));
  };

  const onExit = (code: number | null) => finishOnce(code);
  child?.once('exit', onExit);
  let exitWatcher: FSWatcher | null = null;
  const close = () => {
    exitWatcher?.close();
    exitWatcher = null;
    output.close();
  };
  if (end !== null) {
    containment.close();
    output.finish();
    resolveEnded(end);
  } else if (child === null) {
    try {
      exitWatcher = watch(files.exit, { persistent: false }, () => {
        if (readExitFile(files.exit).state === 'exited') finishOnce(null);
      });
      exitWatcher.on('error', (error) => onError(error, 'exit file could not be watched'));
    } catch (error) {
      // For example, because no inotify watches are left. `check` then finds the end within a second.
      onError(error, 'exit file could not be watched');
    }
    check();
  }

  return {
    files,
    record: () => record,
    update: (change) => {
      record = { ...record, ...change };
      writeRecord(files, record);
    },
    containment,
    output,
    end: () => end,
    ended,
    hasRun: () => readExitFile(files.exit).state !== 'unstarted',
    check,
    stop: async (graceMilliseconds) => {
      if (end !== null) return;
      if (graceMilliseconds > 0) {
        const members = containment.members(readProcessTable).filter(({ pid }) => pid !== supervisor.pid);
        signalAll(members, 'SIGTERM');
        if (await settlesWithin(ended, graceMilliseconds)) return;
      }
      await kill();
    },
    killForMemory: () => killFor(files.memoryKill, ''),
    killForDisk: (reason) => {
      diskLimit ??= reason;
      killFor(files.diskKill, reason);
    },
    close: async () => {
      isClosed = true;
      child?.off('exit', onExit);
      await finishing;
      if (end === null) containment.close();
      close();
    },
  };
}

/**
 * Determines how the instance ended: from the exit file, else from the supervisor's exit status, else from whether this
 * server killed the instance.
 */
function describeEnd(
  files: InstanceFiles,
  supervisorStatus: number | null,
  killed: boolean,
): { readonly code: number | null; readonly signal: string | null; readonly at: string | null } {
  const file = readExitFile(files.exit);
  if (file.state === 'exited') {
    const at = statSync(files.exit, { throwIfNoEntry: false })?.mtime.toISOString() ?? null;
    return { code: file.code, signal: file.signal, at };
  }
  if (supervisorStatus !== null) return { ...describeStatus(supervisorStatus), at: null };
  return { code: null, signal: killed ? 'SIGKILL' : null, at: null };
}

/** The end of an instance that was running before a reboot, so none of its processes can be left. */
export function endOfEarlierBoot(files: InstanceFiles, now: Date, tail: string): InstanceEnd {
  const known = describeEnd(files, null, false);
  const at = known.at ?? now.toISOString();
  return { ...known, at, outOfMemory: existsSync(files.memoryKill), tail, diskLimit: readDiskKill(files) };
}

function readDiskKill(files: InstanceFiles): string | undefined {
  try {
    return readFileSync(files.diskKill, 'utf8');
  } catch {
    return undefined;
  }
}

async function settlesWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([promise.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
