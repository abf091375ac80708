import { existsSync, writeFileSync } from 'node:fs';
import type { InstanceEnd } from '../../instance-end.ts';
import type { MonotonicClock } from '../../output/monotonic-clock.ts';
import type { ResourceUsage } from '../../runtime.ts';
import { settlesWithin } from '../../settles-within.ts';
import type { StartedProgram } from '../../spawner.ts';
import { removeCgroups } from '../containment/cgroup.ts';
import { createProcessContainment, type ProcessContainment } from '../containment/containment.ts';
import type { PageAndTickSizes } from '../containment/kernel-units.ts';
import { killContainedProcesses, signalProcesses } from '../containment/kill.ts';
import { type OutputRecorder, openOutputRecorder } from '../output/output-recorder.ts';
import { isAlive, type ProcessIdentity } from '../proc/process-identity.ts';
import { createProcessTableProvider, type ProcessTableProvider, readProcessTable } from '../proc/process-table.ts';
import {
  type InstanceFiles,
  type InstanceRecord,
  writeInstanceEnd,
  writeInstanceRecord,
} from '../records/instance-record.ts';
import { readExitStatusFile } from '../supervisor/supervisor.ts';
import {
  determineInstanceEnd,
  readDiskLimitKillReason,
  readInstanceState,
  watchExitStatusFile,
} from './instance-end.ts';

/** Milliseconds from the kill of a bot to that of its supervisor. A supervisor that got SIGSTOP writes no exit status. */
const supervisorGraceMs = 1000;

/** An instance that this server just launched, or that it found in the data directory. */
export type LaunchedInstance = {
  readonly files: InstanceFiles;
  readonly record: InstanceRecord;
  readonly supervisor: ProcessIdentity;
  /**
   * The supervisor, if this server process started it for this instance. Null if a previous server process started the
   * supervisor, or if the bot was forked.
   */
  readonly supervisorProgram: StartedProgram | null;
  readonly isForked?: boolean;
  /** Whether the instance was spawned because a fork server failed to fork it. */
  readonly isForkFailed?: boolean;
  /** How the instance ended. Null if no end is recorded. After a recorded end, no process of the instance is running. */
  readonly end: InstanceEnd | null;
};

export type OptionsForAllInstances = {
  readonly units: PageAndTickSizes;
  readonly outputLimitBytes: number;
  readonly clock: MonotonicClock;
  readonly path: string;
  readonly now: () => Date;
};

export type InstanceOptions = OptionsForAllInstances &
  LaunchedInstance & {
    readonly onDropped: (bytes: number) => void;
    readonly onEnded: (end: InstanceEnd) => void;
    readonly onError: (error: unknown, message: string) => void;
  };

export type Instance = {
  readonly files: InstanceFiles;
  /**
   * Whether a ready fork server should replace this instance, which was spawned. False after a failed fork: if every fork of a bot
   * fails, each new fork server would replace the bot's warm instances again.
   */
  readonly isReplaceable: boolean;
  readonly record: () => InstanceRecord;
  readonly update: (change: Partial<InstanceRecord>) => void;
  readonly containment: ProcessContainment;
  /** CPU and memory use. After the end of the instance, its last use. Null if unknown. */
  readonly usage: (table: ProcessTableProvider) => ResourceUsage | null;
  readonly output: OutputRecorder;
  readonly end: () => InstanceEnd | null;
  readonly ended: Promise<InstanceEnd>;
  readonly hasRun: () => boolean;
  /** Checks whether a supervisor that a previous server process started has ended, because no event reports that. */
  readonly check: () => void;
  readonly stop: (graceMs: number) => Promise<void>;
  readonly killForMemory: () => void;
  /** Kills the instance because it exceeds a disk limit. `reason` is a sentence for the agent's owner. */
  readonly killForDisk: (reason: string) => void;
  /** Stops watching a running instance without ending it. Waits until an end that is being recorded is stored. */
  readonly close: () => Promise<void>;
};

export function openInstance(options: InstanceOptions): Instance {
  const { files } = options;
  let record = options.record;
  const containment = createProcessContainment(record, record.main ?? options.supervisor, options.units);
  const output = openOutputRecorder({
    directory: files.log,
    clock: options.clock,
    searchPath: options.path,
    limitBytes: options.outputLimitBytes,
    adopted: options.supervisorProgram === null && options.isForked !== true,
    onDropped: options.onDropped,
    onError: (error) => options.onError(error, 'output of instance could not be processed'),
  });
  return {
    files,
    isReplaceable: record.main === null && options.isForkFailed !== true,
    record: () => record,
    update: (change) => {
      record = { ...record, ...change };
      writeInstanceRecord(files, record);
    },
    containment,
    output,
    hasRun: () => readExitStatusFile(files.exit).state !== 'unstarted',
    ...watchEnd(options, containment, output, () => record),
  };
}

/** Detects, causes and records the end of an instance. */
function watchEnd(
  options: InstanceOptions,
  containment: ProcessContainment,
  output: OutputRecorder,
  currentRecord: Instance['record'],
): Pick<Instance, 'usage' | 'end' | 'ended' | 'check' | 'stop' | 'killForMemory' | 'killForDisk' | 'close'> {
  const { files, supervisor, supervisorProgram, onError } = options;
  const { main } = options.record;
  let end = options.end;
  let finishing: Promise<void> | null = null;
  let isClosed = false;
  let isKilled = false;
  let lastUsage: ResourceUsage | null = null;
  let diskLimit = readDiskLimitKillReason(files);
  let stopWatching = () => {};
  let resolveEnded: (end: InstanceEnd) => void = () => undefined;
  const ended = new Promise<InstanceEnd>((resolve) => {
    resolveEnded = resolve;
  });
  const onStuck = (pids: readonly number[]) =>
    onError(new Error(`Processes survive SIGKILL: ${pids.join(', ')}`), 'instance could not be killed');

  const finish = async (supervisorStatus: number | null) => {
    await killContainedProcesses(containment, null, onStuck);
    const usage = containment.usage(createProcessTableProvider());
    lastUsage = usage === null ? null : { ...usage, at: options.now(), hasEnded: true };
    output.finish();
    end = describeEnd(options, containment, determineInstanceEnd(files, supervisorStatus, isKilled), {
      tail: output.tail(),
      diskLimit,
    });
    await storeEnd(options, containment, currentRecord(), end);
    close();
    resolveEnded(end);
    options.onEnded(end);
  };
  const finishOnce = (supervisorStatus: number | null) => {
    if (isClosed) return;
    finishing ??= finish(supervisorStatus).catch((error: unknown) => {
      // The next call of `check` tries again to end the instance. The watchdog calls `check` regularly.
      finishing = null;
      onError(error, 'instance could not be ended');
    });
  };
  const close = () => {
    stopWatching();
    output.close();
  };

  const check = () => {
    if (end !== null || finishing !== null) return;
    output.poll();
    const observed = readInstanceState({ files, main, supervisor, supervisorProgram });
    if (observed.state === 'ended') finishOnce(observed.supervisorStatus);
    // Resume the supervisor. A bot with the service's account can stop its supervisor, and a stopped supervisor would miss the
    // bot's end.
    else if (observed.state === 'supervisor-stopped') signalProcesses([supervisor], 'SIGCONT');
  };

  const kill = async () => {
    isKilled = true;
    await killProcesses(options, containment, ended, onStuck);
    if (main === null) check();
    else finishOnce(null);
    await ended;
  };
  /** Record the reason before the kill, so that the next server process knows it if this server is killed here. */
  const killFor = (path: string, reason: string) => {
    if (end !== null || finishing !== null) return;
    try {
      writeFileSync(path, reason, { mode: 0o600 });
    } catch (error) {
      onError(error, 'the reason for a kill could not be recorded');
    }
    kill().catch((error: unknown) => onError(error, 'instance above its memory or disk limit could not be killed'));
  };

  // The exit status is `unknown` if the spawner process that started the supervisor has exited. The supervisor may then still
  // be running, and the watchdog detects when the supervisor ends.
  supervisorProgram?.ended.then((known) => known !== 'unknown' && finishOnce(known.code));
  if (end !== null) {
    containment.close();
    output.finish();
    resolveEnded(end);
  } else if (supervisorProgram === null) {
    const onWatchError = (error: unknown) => onError(error, 'file with the exit status could not be watched');
    stopWatching = watchExitStatusFile(files.exit, () => finishOnce(null), onWatchError);
    check();
  }

  return {
    usage: (table) => {
      if (end !== null) return lastUsage;
      const usage = containment.usage(table);
      return usage === null ? null : { ...usage, at: options.now() };
    },
    end: () => end,
    ended,
    check,
    stop: async (graceMs) => {
      if (end !== null) return;
      if (graceMs > 0) {
        const members = containment.members(readProcessTable).filter(({ pid }) => pid !== supervisor.pid);
        signalProcesses(members, 'SIGTERM');
        if (await settlesWithin(ended, graceMs)) return;
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
      await finishing;
      if (end === null) containment.close();
      close();
    },
  };
}

function describeEnd(
  { files, now }: InstanceOptions,
  containment: ProcessContainment,
  known: ReturnType<typeof determineInstanceEnd>,
  details: Pick<InstanceEnd, 'tail' | 'diskLimit'>,
): InstanceEnd {
  const outOfMemory = known.code !== 0 && (containment.memoryKills() > 0 || existsSync(files.memoryKill));
  return { ...known, at: known.at ?? now().toISOString(), outOfMemory, ...details };
}

/** Stores how the instance ended, and then removes its control groups. */
async function storeEnd(
  { files, onError }: InstanceOptions,
  containment: ProcessContainment,
  { cgroups }: InstanceRecord,
  end: InstanceEnd,
): Promise<void> {
  try {
    writeInstanceEnd(files, end);
    containment.close();
    if (cgroups !== null) await removeCgroups(cgroups);
  } catch (error) {
    // If the end could not be stored, for example because the disk is full, the control groups are kept. The next server
    // process counts the out-of-memory kills in them when it determines how the instance ended.
    onError(error, 'end of instance could not be recorded');
  }
}

/** Kills the bot, and also its supervisor if the supervisor does not write the exit status in time. */
async function killProcesses(
  { files, record: { main }, supervisor }: LaunchedInstance,
  containment: ProcessContainment,
  ended: Promise<InstanceEnd>,
  onStuck: (pids: readonly number[]) => void,
): Promise<void> {
  if (isAlive(supervisor)) signalProcesses([supervisor], 'SIGCONT');
  // Do not kill the supervisor of a spawned bot while it still has to write the exit status. The supervisor of a forked bot
  // is not killed anyway, because it serves several instances.
  const hasStatusToWrite = main === null && readExitStatusFile(files.exit).state === 'running' && isAlive(supervisor);
  await killContainedProcesses(containment, hasStatusToWrite ? supervisor.pid : null, onStuck);
  if (await settlesWithin(ended, supervisorGraceMs)) return;
  signalProcesses(containment.members(readProcessTable), 'SIGKILL');
}
