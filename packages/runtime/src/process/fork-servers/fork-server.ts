import { settlesWithin } from '../../settles-within.ts';
import { removeCgroups } from '../containment/cgroup.ts';
import { createProcessContainment } from '../containment/containment.ts';
import type { PageAndTickSizes } from '../containment/kernel-units.ts';
import { killContainedProcesses, signalProcesses } from '../containment/kill.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import { isAlive, type ProcessIdentity } from '../proc/process-identity.ts';
import {
  type ForkServerFiles,
  type ForkServerRecord,
  formatForkServerInstanceId,
} from '../records/fork-server-record.ts';
import { connectSupervisor, type ForkRequest, type ForkServerStatus } from './supervisor-connection.ts';
import { releaseRange } from './uid-ranges.ts';

/**
 * A forked process that waits until `go` is called and then runs the bot. The process exits if bothost ends before the call.
 */
export type ForkedProcess = {
  readonly identity: ProcessIdentity;
  readonly go: () => void;
  readonly abandon: () => void;
};

export type ForkServer = {
  readonly record: ForkServerRecord;
  readonly status: () => ForkServerStatus;
  /** Resolves when the import of the bot has ended, or after the timeout. */
  readonly imported: (timeoutMs: number) => Promise<void>;
  /** Forks an instance. Rejects with a one-line reason; then no process of the instance is running. */
  readonly fork: (order: ForkRequest) => Promise<ForkedProcess>;
  /** Ends the connection to the supervisor. The fork server and its instances keep running. */
  readonly disconnect: () => void;
};

export type ForkServerOptions = {
  readonly files: ForkServerFiles;
  readonly record: ForkServerRecord;
  readonly onModules: (modules: readonly string[]) => void;
  /** Called once when the fork server becomes unusable after the import. Its instances keep running. */
  readonly onEnded: (reason: string) => void;
};

/**
 * A process identity that matches no process. The removal of a fork server passes it to the search for the processes to kill,
 * in place of the supervisor's identity. This spares the supervisor, which must run until its last instance has ended.
 */
const noProcess: ProcessIdentity = { pid: -1, startTicks: -1 };

/** Time limit of a fork request. The supervisor itself reports a hanging fork after 20 seconds, so this limit is longer. */
const forkMs = 25_000;
/** Time limit for connecting to the supervisor and its first status. A bot with the service's account can stop the supervisor. */
const statusMs = 5_000;

/** Connects to a fork server of this or a previous server process. Null if the fork server has ended. */
export async function openForkServer(options: ForkServerOptions): Promise<ForkServer | null> {
  const { files, record } = options;
  const { supervisor } = record;
  if (supervisor === null) return null;
  let status: ForkServerStatus | null = null;
  let isConnected = true;
  let hasEnded = false;
  let wasReady = false;
  const forks = createPendingForks();
  const { changed, until } = createChangeSignal();
  const end = (reason: string) => {
    if (wasReady && !hasEnded) options.onEnded(reason);
    hasEnded = true;
  };

  const connection = await connectSupervisor({
    path: files.socket,
    isAlive: () => isAlive(supervisor),
    timeoutMs: statusMs,
    onEvent: (event) => {
      if (event.event === 'modules') options.onModules(event.modules);
      else if (event.event === 'forked') forks.succeed(event.instance, event);
      else if (event.event === 'failed') forks.fail(event.instance, event.reason);
      else {
        status = event;
        wasReady ||= event.state === 'ready';
        if (wasReady && event.state !== 'ready') end(event.reason ?? 'the fork server ended');
        changed();
      }
    },
    onClose: () => {
      isConnected = false;
      forks.failAll('The supervisor of the fork server has ended.');
      end('the supervisor of the fork server has ended');
      changed();
    },
  });
  if (connection === null) return null;
  connection.send({ do: 'status' });
  await settlesWithin(
    until(() => status !== null || !isConnected),
    statusMs,
  );
  if (status === null) {
    connection.close();
    return null;
  }
  const current = (): ForkServerStatus => {
    if (status === null) throw new Error('The supervisor of the fork server did not report a status.');
    return status;
  };

  const fork = async (order: ForkRequest): Promise<ForkedProcess> => {
    const { instance } = order;
    if (!isConnected) throw new Error('The supervisor of the fork server has ended.');
    const abandon = () => connection.send({ do: 'abandon', instance });
    try {
      const { pid, startTicks } = await forks.request(instance, () => connection.send({ do: 'fork', ...order }));
      return { identity: { pid, startTicks }, go: () => connection.send({ do: 'go', instance }), abandon };
    } catch (error) {
      abandon();
      throw error;
    }
  };

  return {
    record,
    status: current,
    imported: async (timeoutMs) => {
      await settlesWithin(
        until(() => status?.state !== 'importing' || !isConnected),
        timeoutMs,
      );
    },
    fork,
    disconnect: () => {
      hasEnded = true;
      connection.close();
    },
  };
}

/** Forks that the supervisor has not confirmed yet, by instance. */
function createPendingForks() {
  const pending = new Map<string, { resolve: (process: ProcessIdentity) => void; reject: (error: Error) => void }>();
  return {
    succeed: (instance: string, process: ProcessIdentity) => pending.get(instance)?.resolve(process),
    fail: (instance: string, reason: string) => pending.get(instance)?.reject(new Error(reason)),
    failAll: (reason: string) => {
      for (const { reject } of pending.values()) reject(new Error(reason));
    },
    /** Sends a fork request and resolves with the forked process. Rejects if the fork fails or is not confirmed in time. */
    request: async (instance: string, send: () => void): Promise<ProcessIdentity> => {
      let timer: NodeJS.Timeout | undefined;
      try {
        return await new Promise<ProcessIdentity>((resolve, reject) => {
          pending.set(instance, { resolve, reject });
          timer = setTimeout(() => reject(new Error('The supervisor of the fork server does not respond.')), forkMs);
          send();
        });
      } finally {
        clearTimeout(timer);
        pending.delete(instance);
      }
    },
  };
}

/** A condition variable: `until` checks its condition now and after each change, and resolves when the condition is true. */
function createChangeSignal() {
  const listeners = new Set<() => void>();
  return {
    changed: () => {
      for (const listener of [...listeners]) listener();
    },
    until: (condition: () => boolean) =>
      new Promise<void>((resolve) => {
        const listener = () => {
          if (!condition()) return;
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
        listener();
      }),
  };
}

/** Kills a fork server and removes its control groups, files and user ids. Its instances keep running. Idempotent. */
export async function removeForkServer(
  context: RemovalContext & { readonly units: PageAndTickSizes; readonly onStuck: (pids: readonly number[]) => void },
  files: ForkServerFiles,
  record: ForkServerRecord | null,
): Promise<void> {
  if (record !== null) {
    // Resume the supervisor, because a supervisor that a bot stopped with SIGSTOP could not exit after its last instance.
    if (record.supervisor !== null) signalProcesses([record.supervisor].filter(isAlive), 'SIGCONT');
    // Kill all processes with the instance id of the fork server itself: the fork server, and forked processes that have not
    // received their own instance id yet.
    const containment = createProcessContainment(
      { ...record, instanceId: formatForkServerInstanceId(record.id) },
      noProcess,
      context.units,
    );
    await killContainedProcesses(containment, null, context.onStuck);
    containment.close();
    if (record.cgroups !== null) await removeCgroups(record.cgroups);
  }
  const isRemoved = await context.removeTree(files.directory);
  if (isRemoved && record?.account != null) {
    releaseRange(context.reservationsDirectory, record.account.uid, files.directory);
  }
}
