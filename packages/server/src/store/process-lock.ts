import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from './store-error.ts';
import { waitForValue } from './wait.ts';

let locks = 0;

/** Options of a lock. `refusal` is the message of the error that is thrown after `timeoutMs`. */
export type ProcessLock = { readonly directory: string; readonly timeoutMs: number; readonly refusal: string };

/**
 * Runs `work` under a lock that processes share through files in `directory`. A process creates a file named by its pid and
 * start time, and holds the lock if it then sees no file of another living process. Otherwise, it removes its file and retries.
 *
 * @throws StoreError with `refusal` if others hold the lock for longer than `timeoutMs`
 */
export async function withProcessLock<T>(
  { directory, timeoutMs, refusal }: ProcessLock,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  locks += 1;
  const lockNumber = locks;
  const name = `${process.pid}-${await readStartTicks(process.pid)}-${lockNumber}`;
  const file = path.join(directory, name);
  const tryLock = async () => {
    if (await isHeldByOther(directory, name)) return undefined;
    await writeFile(file, '');
    if (!(await isHeldByOther(directory, name))) return true;
    await rm(file, { force: true });
    return undefined;
  };
  try {
    const isLocked = await waitForValue({ directory, timeoutMs, check: tryLock });
    if (isLocked === undefined) throw new StoreError(refusal);
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function isHeldByOther(directory: string, own: string): Promise<boolean> {
  for (const name of await readdir(directory)) {
    if (name === own) continue;
    const [pid = '', ticks = ''] = name.split('-');
    if ((await readStartTicks(Number(pid))) === ticks) return true;
    await rm(path.join(directory, name), { force: true });
  }
  return false;
}

/**
 * Returns the start time of a process in clock ticks since boot: field 22 of /proc/PID/stat (proc(5)). Undefined if the process
 * is dead. A zombie (field 3 is `Z`) counts as dead, because in a container it may never be reaped.
 */
export async function readStartTicks(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}
