import { readlink } from 'node:fs/promises';

/** The PID namespace of the machine: `PROC_PID_INIT_INO` of Linux. */
const machineNamespace = 'pid:[4026531836]';

/**
 * Whether this is the main process of a container: the first process of its PID namespace, or a child of an init process such as
 * tini. When it exits, the kernel kills all other processes of the container.
 */
export async function isMainProcessOfContainer(): Promise<boolean> {
  const isFirst = process.pid === 1 || process.ppid === 1;
  return isFirst && (await readlink('/proc/self/ns/pid')) !== machineNamespace;
}
