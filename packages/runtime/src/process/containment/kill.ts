import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessIdentity } from '../proc/process-identity.ts';
import { readProcessTable } from '../proc/process-table.ts';
import type { ProcessContainment } from './containment.ts';

export function signalProcesses(members: readonly ProcessIdentity[], signal: NodeJS.Signals): void {
  for (const { pid } of members) {
    try {
      process.kill(pid, signal);
    } catch {
      // Ignore the error: the process has ended or changed its user id. The caller scans for processes again.
    }
  }
}

const passesBeforeStopping = 2;
const passesBeforeLastResort = 100;
/** Kill passes before survivors are logged. A survivor hangs in the kernel, or runs as root while the service does not. */
const passesBeforeReport = 500;
const stuckPauseMs = 1000;

/**
 * Kills the processes of an instance repeatedly until none is left. After two passes, first stops the processes with SIGSTOP,
 * because a stopped process cannot fork. `spared` is the pid of a supervisor that is not killed, because it still has to write
 * the exit status.
 */
export async function killContainedProcesses(
  containment: ProcessContainment,
  spared: number | null,
  onStuck: (pids: readonly number[]) => void,
): Promise<void> {
  await containment.forbidForks();
  for (let pass = 0; ; pass++) {
    const victims = () => containment.members(readProcessTable).filter(({ pid }) => pid !== spared);
    let members = victims();
    if (members.length === 0) return;
    if (pass >= passesBeforeStopping) {
      for (let seen = 0; members.length > seen; members = victims()) {
        seen = members.length;
        signalProcesses(members, 'SIGSTOP');
      }
    }
    if (pass >= passesBeforeLastResort) await containment.killAtOnce();
    signalProcesses(members, 'SIGKILL');
    if (pass === passesBeforeReport) onStuck(members.map(({ pid }) => pid));
    // Poll, because no event reports the end of a process that is not a child of the server.
    await delay(pass < passesBeforeReport ? Math.min(1 + pass, 20) : stuckPauseMs);
  }
}
