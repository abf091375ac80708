import { readFile, readlink } from 'node:fs/promises';

/** The PID namespace of the machine: `PROC_PID_INIT_INO` of Linux. */
const machineNamespace = 'pid:[4026531836]';

/**
 * Whether this is the main process of a container, at whose exit the kernel or the container's engine kills all other processes of
 * the container: its first process, the first one in a PID namespace that a pod shares, or a child of an init process such as tini.
 * A unit of systemd is none, even if systemd runs in a container.
 */
export async function isMainProcessOfContainer(): Promise<boolean> {
  if ((await readlink('/proc/self/ns/pid')) === machineNamespace) return false;
  if (process.pid === 1 || process.ppid === 0) return true;
  return process.ppid === 1 && (await readFile('/proc/1/comm', 'utf8')).trim() !== 'systemd';
}
