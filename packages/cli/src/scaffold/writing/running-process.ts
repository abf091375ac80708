import { systemErrorCode } from '../../failure.ts';
/** Whether any process has this id. If the id was reused, that is another program. */
export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}
