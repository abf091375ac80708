import { removeCgroups } from '../containment/cgroup.ts';
import { openContainment } from '../containment/containment.ts';
import type { KernelUnits } from '../containment/kernel-units.ts';
import { killUntilEmpty, signalAll } from '../containment/kill.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import { isAlive, type ProcessIdentity } from '../proc/process-identity.ts';
import { type ForkServerFiles, type ForkServerRecord, markName } from './fork-server-record.ts';
import { connectSupervisor, type ForkOrder, type ForkServerStatus } from './supervisor-connection.ts';
import { releaseRange } from './uid-ranges.ts';

/** A forked process that waits. It runs the bot after `go`, and ends if this server ends before. */
export type ForkedProcess = {
  readonly identity: ProcessIdentity;
  readonly go: () => void;
  readonly abandon: () => void;
};

export type ForkServer = {
  readonly record: ForkServerRecord;
  readonly status: () => ForkServerStatus;
  /** Resolves when the import is over, or after the timeout. */
  readonly imported: (timeoutMilliseconds: number) => Promise<void>;
  /** Rejects with a one-line reason; then no process remains. */
  readonly fork: (order: ForkOrder) => Promise<ForkedProcess>;
  /** Ends the connection. The fork server and its instances keep running. */
  readonly disconnect: () => void;
};

export type ForkServerOptions = {
  readonly files: ForkServerFiles;
  readonly record: ForkServerRecord;
  readonly onModules: (modules: readonly string[]) => void;
  /** The fork server can no longer be used, but its instances run on. Not called before the import is over. */
  readonly onEnded: (reason: string) => void;
};

/** A fork server is recognized without its supervisor, which outlives it. */
const NO_PROCESS: ProcessIdentity = { pid: -1, startTicks: -1 };

/** How long a supervisor may take to answer. It waits for a hanging fork up to five seconds. */
const FORK_MILLISECONDS = 10_000;
/** How long it may take to report its state. A bot that shares the account of the service may have stopped it. */
const STATUS_MILLISECONDS = 5_000;

/** Connects to a fork server that was just launched, or one that an earlier server started. Null if it has ended. */
export async function openForkServer(options: ForkServerOptions): Promise<ForkServer | null> {
  const { files, record } = options;
  const { supervisor } = record;
  if (supervisor === null) return null;
  let status: ForkServerStatus | null = null;
  let isConnected = true;
  /** Whether it was ready and no longer is. */
  let hasEnded = false;
  let wasReady = false;
  const forks = new Map<string, { resolve: (process: ProcessIdentity) => void; reject: (error: Error) => void }>();
  const changes = new Set<() => void>();
  const changed = () => {
    for (const listener of [...changes]) listener();
  };
  const end = (reason: string) => {
    if (wasReady && !hasEnded) options.onEnded(reason);
    hasEnded = true;
  };

  const connection = await connectSupervisor({
    path: files.socket,
    isAlive: () => isAlive(supervisor),
    onEvent: (event) => {
      if (event.event === 'modules') options.onModules(event.modules);
      else if (event.event === 'forked') forks.get(event.instance)?.resolve(event);
      else if (event.event === 'failed') forks.get(event.instance)?.reject(new Error(event.reason));
      else {
        status = event;
        wasReady ||= event.state === 'ready';
        if (wasReady && event.state !== 'ready') end(event.reason ?? 'it ended');
        changed();
      }
    },
    onClose: () => {
      isConnected = false;
      for (const { reject } of forks.values()) reject(new Error('The supervisor of the fork server has ended.'));
      end('the supervisor of the fork server has ended');
      changed();
    },
  });
  if (connection === null) return null;
  connection.send({ do: 'status' });
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const listener = () => {
        if (!condition()) return;
        changes.delete(listener);
        resolve();
      };
      changes.add(listener);
      listener();
    });
  await settlesWithin(
    until(() => status !== null || !isConnected),
    STATUS_MILLISECONDS,
  );
  if (status === null) {
    connection.close();
    return null;
  }
  const current = (): ForkServerStatus => {
    if (status === null) throw new Error('The fork server has no status.');
    return status;
  };

  const fork = async (order: ForkOrder): Promise<ForkedProcess> => {
    const { instance } = order;
    if (!isConnected) throw new Error('The supervisor of the fork server has ended.');
    const abandon = () => connection.send({ do: 'abandon', instance });
    let timer: NodeJS.Timeout | undefined;
    const done = new Promise<ProcessIdentity>((resolve, reject) => {
      forks.set(instance, { resolve, reject });
      timer = setTimeout(
        () => reject(new Error('The supervisor of the fork server does not answer.')),
        FORK_MILLISECONDS,
      );
    });
    try {
      connection.send({ do: 'fork', ...order });
      const { pid, startTicks } = await done;
      return { identity: { pid, startTicks }, go: () => connection.send({ do: 'go', instance }), abandon };
    } catch (error) {
      abandon();
      throw error;
    } finally {
      clearTimeout(timer);
      forks.delete(instance);
    }
  };

  return {
    record,
    status: current,
    imported: (timeoutMilliseconds) =>
      settlesWithin(
        until(() => status?.state !== 'importing' || !isConnected),
        timeoutMilliseconds,
      ),
    fork,
    disconnect: () => {
      hasEnded = true;
      connection.close();
    },
  };
}

/**
 * Kills the processes of a fork server and removes its control groups, files and range. Its instances run on, and so does its
 * supervisor until the last of them ends. Idempotent.
 */
export async function removeForkServer(
  context: RemovalContext & { readonly units: KernelUnits; readonly onStuck: (pids: readonly number[]) => void },
  files: ForkServerFiles,
  record: ForkServerRecord | null,
): Promise<void> {
  if (record !== null) {
    // If it was stopped, it could not end with its last instance.
    if (record.supervisor !== null) signalAll([record.supervisor].filter(isAlive), 'SIGCONT');
    // Opened for each removal: a fork belongs to the fork server until it has its own id, and to its instance then.
    const containment = openContainment({ ...record, instanceId: markName(record.id) }, NO_PROCESS, context.units);
    await killUntilEmpty(containment, null, context.onStuck);
    containment.close();
    if (record.cgroups !== null) removeCgroups(record.cgroups);
  }
  const isRemoved = await context.removeTree(files.directory);
  if (isRemoved && record?.account != null) {
    releaseRange(context.reservationsDirectory, record.account.uid, files.directory);
  }
}

async function settlesWithin(promise: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
