import { readProcFile } from '../proc/read-proc-file.ts';

/**
 * Bytes that processes wrote to disks (proc_pid_io(5)), minus the bytes of files that they deleted or truncated before
 * write-back. 0 if unreadable.
 */
export function readWrittenBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const text = readProcFile(`/proc/${pid}/io`) ?? '';
    const counter = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    return sum + counter('write_bytes') - counter('cancelled_write_bytes');
  }, 0);
}
