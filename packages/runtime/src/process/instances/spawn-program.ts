import { enterCgroups } from '../containment/cgroup.ts';
import { lowerSessionPriority } from '../containment/niceness.ts';
import { startSupervisedCommand, startSupervisor } from '../supervisor/supervisor.ts';
import type { ProcessCreator } from './launch-contained.ts';

export type SpawnedProgram = {
  readonly command: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the program sees `files.tmp` and `files.varTmp` as `/tmp` and `/var/tmp`. Default: no. */
  readonly hasPrivateTmp?: boolean;
};

/** Starts a program as a child of its own supervisor. */
export function spawnProgram({ hasPrivateTmp = false, ...program }: SpawnedProgram): ProcessCreator {
  return async (record, { files, processLimit, priority }) => {
    const hasCpuController = record.cgroups?.cpu ?? false;
    const supervisorProgram = await startSupervisor({
      ...program,
      priority: hasCpuController ? null : priority,
      account: record.account,
      exitPath: files.exit,
      outputPath: files.output,
      tmpDirectories: hasPrivateTmp ? files : null,
      processLimit: record.containment === 'uid' ? processLimit : 0,
    });
    const abandon = async () => {
      supervisorProgram.kill();
      await supervisorProgram.ended;
    };
    const { pid, startTicks } = supervisorProgram;
    try {
      if (record.cgroups !== null) await enterCgroups(record.cgroups, pid).catch(ignoreEnded);
      if (!hasCpuController) lowerSessionPriority(pid, priority);
      return {
        supervisor: { pid, startTicks },
        main: null,
        supervisorProgram,
        go: () => startSupervisedCommand(supervisorProgram),
        abandon,
      };
    } catch (error) {
      await abandon();
      throw error;
    }
  };
}

/** Ignores ESRCH: the supervisor has already ended, and the instance ends with the supervisor's status and output. */
function ignoreEnded(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ESRCH') throw error;
}
