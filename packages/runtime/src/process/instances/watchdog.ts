import { filterListenersByProcess, readListeners } from '../proc/listeners.ts';
import { readProportionalMemoryBytes } from '../proc/process-identity.ts';
import type { ProcessTableProvider } from '../proc/process-table.ts';
import { createProcessTableProvider } from '../proc/process-table.ts';
import type { Instance } from './instance.ts';

/** Polls for changes without an event: ends of adopted supervisors, and memory use that the kernel does not limit. */
export function checkInstances(instances: readonly Instance[]): void {
  const table = createProcessTableProvider();
  for (const instance of instances) {
    instance.check();
    if (exceedsMemory(instance, table)) instance.killForMemory();
  }
}

/** Finds bots that listen beyond loopback. Takes milliseconds, because the kernel lists all sockets of the machine. */
export function findNonLoopbackListeners(
  running: readonly Instance[],
  onWide: (instance: Instance, host: string) => void,
): void {
  const table = createProcessTableProvider();
  const wide = running.length === 0 ? [] : readListeners().filter(({ loopbackOnly }) => !loopbackOnly);
  for (const instance of running) {
    const onItsPort = wide.filter(({ port }) => port === instance.record().port);
    if (onItsPort.length === 0) continue;
    const pids = instance.containment.members(table).map(({ pid }) => pid);
    const [own] = filterListenersByProcess(pids, onItsPort);
    if (own !== undefined) onWide(instance, own.address);
  }
}

function exceedsMemory(instance: Instance, table: ProcessTableProvider): boolean {
  if (instance.containment.boundsMemory || instance.end() !== null) return false;
  const limit = instance.record().limits.memoryBytes;
  const usage = instance.containment.usage(table);
  if (usage === null || usage.memoryBytes <= limit) return false;
  // Resident memory counts shared pages once per process, so read the proportional memory before killing a bot.
  const shares = instance.containment.members(table).map(({ pid }) => readProportionalMemoryBytes(pid));
  const readable = shares.filter((share) => share !== null);
  return readable.length < shares.length || readable.reduce((sum, share) => sum + share, 0) > limit;
}
