import type { ChildProcess } from 'node:child_process';
import { existsSync, type FSWatcher, statSync, watch, writeFileSync } from 'node:fs';
import { removeCgroups } from '../containment/cgroup.ts';
import { type Containment, openContainment, type TableSource } from '../containment/containment.ts';
import type { KernelUnits } from '../containment/kernel-units.ts';
import { killUntilEmpty, signalAll } from '../containment/kill.ts';
import type { MonotonicClock } from '../output/monotonic-clock.ts';
import { type Output, openOutput } from '../output/output.ts';
import {
  hasEnded,
  isAlive,
  type ProcessIdentity,
  readProcessStat,
  readProportionalMemory,
} from '../proc/process-identity.ts';
import { readProcessTable } from '../proc/process-table.ts';
import { describeStatus, readExitFile } from '../supervisor/keeper.ts';
import { type InstanceEnd, type InstanceFiles, type InstanceRecord, writeEnd, writeRecord } from './instance-record.ts';

/** A keeper that was held back by its bot gets so long to write the status down, then it is killed too. */
const KEEPER_GRACE_MILLISECONDS = 1000;

export type InstanceOptions = {
  readonly files: InstanceFiles;
  readonly record: InstanceRecord;
  readonly keeper: ProcessIdentity;
  /** Null when an earlier server started it. */
  readonly child: ChildProcess | null;
  /** Its end when that is on record already: nothing of it is looked for any more. */
  readonly end: InstanceEnd | null;
  readonly units: KernelUnits;
  readonly outputLimitBytes: number;
  readonly clock: MonotonicClock;
  readonly searchPath: string;
  readonly now: () => Date;
  readonly onDropped: (bytes: number) => void;
  readonly onEnded: (end: InstanceEnd) => void;
  readonly onError: (error: unknown, doing: string) => void;
};

/** An instance that runs or ran, started by this server or adopted. */
export type Instance = {
  readonly files: InstanceFiles;
  readonly record: () => InstanceRecord;
  readonly update: (change: Partial<InstanceRecord>) => void;
  readonly containment: Containment;
  readonly output: Output;
  /** Null while it runs. */
  readonly end: () => InstanceEnd | null;
  readonly ended: Promise<InstanceEnd>;
  /** Whether its command was begun. */
  readonly hasRun: () => boolean;
  /** Looks whether its keeper is still there, for a keeper that is not our child. */
  readonly check: () => void;
  readonly stop: (graceMilliseconds: number) => Promise<void>;
  /** Kills it because it holds more memory than it may. */
  readonly killForMemory: () => void;
  /** Lets go of it; an end that is being written down is waited for. */
  readonly close: () => Promise<void>;
};

export function openInstance(options: InstanceOptions): Instance {
  const { files, keeper, child, onError } = options;
  let record = options.record;
  let end = options.end;
  let finishing: Promise<void> | null = null;
  let isClosed = false;
  let killed = false;
  let resolveEnded: (end: InstanceEnd) => void = () => undefined;
  const ended = new Promise<InstanceEnd>((resolve) => {
    resolveEnded = resolve;
  });
  const containment = openContainment(record, keeper, options.units);
  const output = openOutput({
    files,
    clock: options.clock,
    searchPath: options.searchPath,
    limitBytes: options.outputLimitBytes,
    adopted: child === null,
    onDropped: options.onDropped,
    onError: (error) => onError(error, 'following its output'),
  });

  const onStuck = (pids: readonly number[]) =>
    onError(new Error(`processes that cannot be killed: ${pids.join(', ')}`), 'killing it');

  const finish = async (keeperStatus: number | null) => {
    await killUntilEmpty(containment, null, onStuck);
    output.finish();
    const known = describeEnd(files, keeperStatus, killed);
    const outOfMemory = known.code !== 0 && (containment.memoryKills() > 0 || existsSync(files.memoryKill));
    end = { ...known, at: known.at ?? options.now().toISOString(), outOfMemory, tail: output.tail() };
    try {
      writeEnd(files, end);
      containment.close();
      if (record.cgroups !== null) removeCgroups(record.cgroups);
    } catch (error) {
      // A full disk: the groups are kept, so that a later server can find the same end again.
      onError(error, 'writing its end down');
    }
    close();
    resolveEnded(end);
    options.onEnded(end);
  };
  const finishOnce = (keeperStatus: number | null) => {
    if (isClosed) return;
    finishing ??= finish(keeperStatus).catch((error: unknown) => onError(error, 'ending it'));
  };

  const check = () => {
    if (end !== null || finishing !== null) return;
    output.note();
    const stat = readProcessStat(keeper.pid);
    if (stat === null || stat.startTicks !== keeper.startTicks || hasEnded(stat)) {
      // The status of our own child comes with its event.
      if (child === null || child.exitCode !== null || child.signalCode !== null) finishOnce(child?.exitCode ?? null);
    } else if (stat.state === 'T') {
      // A bot without an account of the service can stop its keeper, which then would never see the bot's end.
      signalAll([keeper], 'SIGCONT');
    }
  };

  const kill = async () => {
    killed = true;
    if (isAlive(keeper)) signalAll([keeper], 'SIGCONT');
    const hasStatusToWrite = readExitFile(files.exit).state === 'running' && isAlive(keeper);
    await killUntilEmpty(containment, hasStatusToWrite ? keeper.pid : null, onStuck);
    if (await settlesWithin(ended, KEEPER_GRACE_MILLISECONDS)) return;
    signalAll(containment.members(readProcessTable), 'SIGKILL');
    check();
    await ended;
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
      exitWatcher.on('error', (error) => onError(error, 'watching its exit status'));
    } catch (error) {
      // Out of watches: the keeper is looked at each second.
      onError(error, 'watching its exit status');
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
        const members = containment.members(readProcessTable).filter(({ pid }) => pid !== keeper.pid);
        signalAll(members, 'SIGTERM');
        if (await settlesWithin(ended, graceMilliseconds)) return;
      }
      await kill();
    },
    killForMemory: () => {
      if (end !== null || finishing !== null) return;
      try {
        writeFileSync(files.memoryKill, '', { mode: 0o600 });
      } catch (error) {
        onError(error, 'noting that it ran out of memory');
      }
      kill().catch((error: unknown) => onError(error, 'killing it for its memory'));
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

/** Usage over the limit, where the kernel does not bound it. */
export function exceedsMemory(instance: Instance, table: TableSource): boolean {
  if (instance.containment.boundsMemory || instance.end() !== null) return false;
  const limit = instance.record().limits.memoryBytes;
  const usage = instance.containment.usage(table);
  if (usage === null || usage.memoryBytes <= limit) return false;
  // Resident memory counts what processes share once for each: before a bot ends for it, it is looked at exactly.
  const shares = instance.containment.members(table).map(({ pid }) => readProportionalMemory(pid));
  const readable = shares.filter((share) => share !== null);
  return readable.length < shares.length || readable.reduce((sum, share) => sum + share, 0) > limit;
}

/** What the exit file says; without it, what the keeper's own status says; without that, what we did to it. */
function describeEnd(
  files: InstanceFiles,
  keeperStatus: number | null,
  killed: boolean,
): { readonly code: number | null; readonly signal: string | null; readonly at: string | null } {
  const file = readExitFile(files.exit);
  if (file.state === 'exited') {
    const at = statSync(files.exit, { throwIfNoEntry: false })?.mtime.toISOString() ?? null;
    return { code: file.code, signal: file.signal, at };
  }
  if (keeperStatus !== null) return { ...describeStatus(keeperStatus), at: null };
  return { code: null, signal: killed ? 'SIGKILL' : null, at: null };
}

/** How an instance of an earlier boot ended: nothing of it can be left. */
export function endOfEarlierBoot(files: InstanceFiles, now: Date, tail: string): InstanceEnd {
  const known = describeEnd(files, null, false);
  return { ...known, at: known.at ?? now.toISOString(), outOfMemory: existsSync(files.memoryKill), tail };
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
