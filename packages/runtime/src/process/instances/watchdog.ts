import type { TableSource } from '../containment/containment.ts';
import { listenersOf, readListeners } from '../proc/listeners.ts';
import { readProportionalMemory } from '../proc/process-identity.ts';
import { type ProcessTable, readProcessTable } from '../proc/process-table.ts';
import type { Instance } from './instance.ts';

/** Returns a function that reads the process table on its first call and returns the same table afterwards. */
export function createTableSource(): TableSource {
  let table: ProcessTable | null = null;
  return () => {
    table ??= readProcessTable();
    return table;
  };
}

export type WatchdogOptions = {
  readonly instances: readonly Instance[];
  readonly onWide: (instance: Instance, host: string) => void;
  /** Instances for which `onWide` has been called. */
  readonly knownWide: ReadonlySet<Instance>;
};

/**
 * Polls what has no event: the end of supervisors that an earlier server started, and memory use that the kernel does
 * not limit.
 */
export function checkInstances(instances: readonly Instance[]): void {
  const table = createTableSource();
  for (const instance of instances) {
    instance.check();
    if (exceedsMemory(instance, table)) instance.killForMemory();
  }
}

/** Finds bots that listen on more than loopback. Takes milliseconds, because the kernel lists all sockets. */
export function findWideListeners(options: WatchdogOptions): void {
  const table = createTableSource();
  const live = options.instances.filter((instance) => instance.end() === null);
  const wide = live.length === 0 ? [] : readListeners().filter(({ loopbackOnly }) => !loopbackOnly);
  if (wide.length === 0) return;
  for (const instance of live) {
    const onItsPort = wide.filter(({ port }) => port === instance.record().port);
    if (onItsPort.length === 0 || options.knownWide.has(instance)) continue;
    const pids = instance.containment.members(table).map(({ pid }) => pid);
    const [own] = listenersOf(pids, onItsPort);
    if (own !== undefined) options.onWide(instance, own.address);
  }
}

/** Whether an instance exceeds a memory limit that the kernel does not enforce. */
function exceedsMemory(instance: Instance, table: TableSource): boolean {
  if (instance.containment.boundsMemory || instance.end() !== null) return false;
  const limit = instance.record().limits.memoryBytes;
  const usage = instance.containment.usage(table);
  if (usage === null || usage.memoryBytes <= limit) return false;
  // Resident memory counts shared pages once per process, so read the proportional memory before killing a bot.
  const shares = instance.containment.members(table).map(({ pid }) => readProportionalMemory(pid));
  const readable = shares.filter((share) => share !== null);
  return readable.length < shares.length || readable.reduce((sum, share) => sum + share, 0) > limit;
}
