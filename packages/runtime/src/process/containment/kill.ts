import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from '../proc/process-identity.ts';
import { readProcessTable } from '../proc/process-table.ts';
import type { Containment } from './containment.ts';

/** Ignores processes that have already ended. */
export function signalAll(members: readonly ProcessIdentity[], signal: NodeJS.Signals): void {
  for (const { pid } of members) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended or has changed its user id, so the caller scans again.
    }
  }
}

const PASSES_BEFORE_STOPPING = 2;
const PASSES_BEFORE_LAST_RESORT = 100;
/** If processes are left after this time, one hangs in the kernel, or runs as root while the service does not. */
const PASSES_BEFORE_REPORT = 500;
const STUCK_PAUSE_MILLISECONDS = 1000;

/**
 * Kills the processes of an instance until none is left. If their number grows, stops them first, because a stopped
 * process cannot fork. `spared` is the pid of a supervisor that still has to write the exit status and then exits by
 * itself.
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
    if (pass === PASSES_BEFORE_REPORT) onStuck(members.map(({ pid }) => pid));
    // Poll, because no event reports the end of a process that is not a child of the server.
    await delay(pass < PASSES_BEFORE_REPORT ? Math.min(1 + pass, 20) : STUCK_PAUSE_MILLISECONDS);
  }
}
