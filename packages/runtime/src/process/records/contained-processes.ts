import { z } from 'zod';

/** Fields of the records of instances and fork servers, by which the next server process finds their processes. */

/** How processes are recognized after they have left their session: control group, account, or environment variable. */
export const containmentSchema = z.enum(['cgroup', 'uid', 'mark']);
export type ContainmentKind = z.infer<typeof containmentSchema>;

const directory = z.string().nullable();
/** Absolute directories of control groups, by controller. Null if the machine lacks the controller. */
export const cgroupsSchema = z.object({
  /** Directory in the cgroup version 2 hierarchy, where `cgroup.kill` and `cpu.stat` work even without controllers. */
  unified: directory,
  memory: directory,
  cpu: directory,
  cpuacct: directory,
  pids: directory,
});
export type CgroupDirectories = z.infer<typeof cgroupsSchema>;
