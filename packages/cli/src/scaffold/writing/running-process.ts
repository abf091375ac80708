import { getSystemErrorCode } from '../../failure.ts';
/** Returns whether a process with this id is running. It may be an unrelated process, because the system reuses ids. */
export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return getSystemErrorCode(error) === 'EPERM';
  }
}
