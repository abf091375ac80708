import type { TableSource } from '../containment/containment.ts';
import { listenersOf, readListeners } from '../proc/listeners.ts';
import { type ProcessTable, readProcessTable } from '../proc/process-table.ts';
import { exceedsMemory, type Instance } from './instance.ts';

/** One look at the process table that all who ask during one round share. */
export function tableOnce(): TableSource {
  let table: ProcessTable | null = null;
  return () => {
    table ??= readProcessTable();
    return table;
  };
}

export type WatchdogOptions = {
  readonly instances: readonly Instance[];
  readonly onWide: (instance: Instance, host: string) => void;
  /** Those of which `onWide` was told already. */
  readonly knownWide: ReadonlySet<Instance>;
};

/**
 * What has no event of its own and is looked at each second: keepers that are not our children, and memory that the
 * kernel does not bound.
 */
export function checkInstances(instances: readonly Instance[]): void {
  const table = tableOnce();
  for (const instance of instances) {
    instance.check();
    if (exceedsMemory(instance, table)) instance.killForMemory();
  }
}

/** Listeners that opened to the network after the bot was ready. Costs milliseconds, as the kernel walks all sockets. */
export function findWideListeners(options: WatchdogOptions): void {
  const table = tableOnce();
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
