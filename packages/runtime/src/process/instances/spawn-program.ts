import { enterCgroups } from '../containment/cgroup.ts';
import { lowerPriorityOfSession } from '../containment/niceness.ts';
import { readProcessStat } from '../proc/process-identity.ts';
import { startSupervisor } from '../supervisor/supervisor.ts';
import type { CreateProcess } from './launch-contained.ts';

export type SpawnedProgram = {
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the program sees `files.tmp` and `files.varTmp` as `/tmp` and `/var/tmp`. Default: no. */
  readonly hasPrivateTmp?: boolean;
};

/** Starts a program as a child of its own supervisor, which is a child of this server. */
export function spawnProgram({ hasPrivateTmp = false, ...program }: SpawnedProgram): CreateProcess {
  return async (record, { files, processLimit, priority }) => {
    const hasCpuController = record.cgroups?.cpu ?? false;
    const { pid, child, go } = await startSupervisor({
      ...program,
      priority: hasCpuController ? null : priority,
      account: record.account,
      exitPath: files.exit,
      outputPath: files.output,
      tmpDirectories: hasPrivateTmp ? files : null,
      processLimit: record.containment === 'uid' ? processLimit : 0,
    });
    const abandon = async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
    };
    try {
      const startTicks = readProcessStat(pid)?.startTicks;
      if (startTicks === undefined) throw new Error('The supervisor exited immediately.');
      if (record.cgroups !== null) await enterCgroups(record.cgroups, pid);
      if (!hasCpuController) lowerPriorityOfSession(pid, priority);
      return { supervisor: { pid, startTicks }, main: null, child, go, abandon };
    } catch (error) {
      await abandon();
      throw error;
    }
  };
}
