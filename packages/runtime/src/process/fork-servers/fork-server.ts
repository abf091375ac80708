import { removeCgroups } from '../containment/cgroup.ts';
import { openContainment } from '../containment/containment.ts';
import type { KernelUnits } from '../containment/kernel-units.ts';
import { killUntilEmpty, signalAll } from '../containment/kill.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import { isAlive, type ProcessIdentity } from '../proc/process-identity.ts';
import { type ForkServerFiles, type ForkServerRecord, markName } from './fork-server-record.ts';
import { connectSupervisor, type ForkOrder, type ForkServerStatus } from './supervisor-connection.ts';
import { releaseRange } from './uid-ranges.ts';

/** A forked process that runs the bot after `go`. Exits if this server ends before it calls `go`. */
export type ForkedProcess = {
  readonly identity: ProcessIdentity;
  readonly go: () => void;
  readonly abandon: () => void;
};

export type ForkServer = {
  readonly record: ForkServerRecord;
  readonly status: () => ForkServerStatus;
  /** Resolves when the import of the bot has ended, or after the timeout. */
  readonly imported: (timeoutMilliseconds: number) => Promise<void>;
  /** Rejects with a one-line reason, and then leaves no process running. */
  readonly fork: (order: ForkOrder) => Promise<ForkedProcess>;
  /** Ends the connection. The fork server and its instances keep running. */
  readonly disconnect: () => void;
};

export type ForkServerOptions = {
  readonly files: ForkServerFiles;
  readonly record: ForkServerRecord;
  readonly onModules: (modules: readonly string[]) => void;
  /**
   * Called when the fork server cannot be used any more, although its instances keep running. Not called before the
   * import has ended.
   */
  readonly onEnded: (reason: string) => void;
};

/** Matches no process: the supervisor outlives the fork server, so it is not one of the fork server's processes. */
const NO_PROCESS: ProcessIdentity = { pid: -1, startTicks: -1 };

/**
 * Time limit for the supervisor's response to a fork request. The supervisor waits up to five seconds for a fork that
 * hangs.
 */
const FORK_MILLISECONDS = 10_000;
/**
 * Time limit for connecting to the supervisor, and for its first status. A bot that shares the account of the service
 * can have deleted the supervisor's socket or stopped the supervisor.
 */
const STATUS_MILLISECONDS = 5_000;

/**
 * Connects to a fork server that this server just launched or an earlier server started. Null if the fork server has
 * ended.
 */
export async function openForkServer(options: ForkServerOptions): Promise<ForkServer | null> {
  const { files, record } = options;
  const { supervisor } = record;
  if (supervisor === null) return null;
  let status: ForkServerStatus | null = null;
  let isConnected = true;
  /** Whether the fork server was ready and no longer is. */
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
    timeoutMilliseconds: STATUS_MILLISECONDS,
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
    if (status === null) throw new Error('The supervisor of the fork server did not report a status.');
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
        () => reject(new Error('The supervisor of the fork server does not respond.')),
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
 * Kills the processes of a fork server and removes its control groups, files and range of user ids. Its instances keep
 * running, and its supervisor keeps running until the last of them ends. Idempotent.
 */
export async function removeForkServer(
  context: RemovalContext & { readonly units: KernelUnits; readonly onStuck: (pids: readonly number[]) => void },
  files: ForkServerFiles,
  record: ForkServerRecord | null,
): Promise<void> {
  if (record !== null) {
    // Resume the supervisor, because one stopped with SIGSTOP could not exit after its last instance.
    if (record.supervisor !== null) signalAll([record.supervisor].filter(isAlive), 'SIGCONT');
    // Open the containment for each removal, because a fork belongs to the fork server only until it has its own
    // instance id.
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
