import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from '../proc/process-identity.ts';
import { readProcessTable } from '../proc/process-table.ts';
import type { Containment } from './containment.ts';

/** Signals processes that were looked up a moment ago; those that ended meanwhile are passed over. */
export function signalAll(members: readonly ProcessIdentity[], signal: NodeJS.Signals): void {
  for (const { pid } of members) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended since, or belongs to another account after a change of user id: the next look tells.
    }
  }
}

const PASSES_BEFORE_STOPPING = 2;
const PASSES_BEFORE_LAST_RESORT = 100;
/** One that hangs in the kernel, or that runs as root under a service that does not. */
const PASSES_BEFORE_COMPLAINT = 500;
const STUCK_PAUSE_MILLISECONDS = 1000;

/**
 * Kills the set until it is empty. A set that grows meanwhile is first stopped (a stopped process forks no more) and then
 * killed. `spared` is the supervisor while it still has a status to write down; it goes by itself.
 */
export async function killUntilEmpty(
  containment: Containment,
  spared: number | null,
  onStuck: (pids: readonly number[]) => void,
): Promise<void> {
  containment.forbidForks();
  for (let pass = 0; ; pass++) {
    const victims = () => containment.members(readProcessTable).filter(({ pid }) => pid !== spared);
    let members = victims();
    if (members.length === 0) return;
    if (pass >= PASSES_BEFORE_STOPPING) {
      for (let seen = 0; members.length > seen; members = victims()) {
        seen = members.length;
        signalAll(members, 'SIGSTOP');
      }
    }
    if (pass >= PASSES_BEFORE_LAST_RESORT) containment.killAtOnce();
    signalAll(members, 'SIGKILL');
    if (pass === PASSES_BEFORE_COMPLAINT) onStuck(members.map(({ pid }) => pid));
    // No event tells that a process which is not our child has gone.
    await delay(pass < PASSES_BEFORE_COMPLAINT ? Math.min(1 + pass, 20) : STUCK_PAUSE_MILLISECONDS);
  }
}
