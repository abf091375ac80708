import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from './store-error.ts';
import { waitFor } from './wait.ts';

let claims = 0;

/** Something that one process at a time may do, and the sentence for who waited for it in vain. */
export type Claim = { readonly directory: string; readonly timeoutMs: number; readonly refusal: string };

/**
 * Runs `work` while no other process runs its own under the same `directory`. Each claimant makes a file named by its process
 * (number and start time) and goes on only when it then sees no other living claimant, else it withdraws and tries again: of
 * two, the later one always sees the earlier. A killed claimant's file is known by its dead process, and removing it is safe
 * at any time, because no other claim ever has the same name.
 *
 * @throws StoreError with `refusal` when others hold it for longer than `timeoutMs`
 */
export async function withClaim<T>({ directory, timeoutMs, refusal }: Claim, work: () => Promise<T>): Promise<T> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  claims += 1;
  const claimNumber = claims;
  const name = `${process.pid}-${await startTicks(process.pid)}-${claimNumber}`;
  const file = path.join(directory, name);
  const claim = async () => {
    if (await othersClaim(directory, name)) return undefined;
    await writeFile(file, '');
    if (!(await othersClaim(directory, name))) return true;
    await rm(file, { force: true });
    return undefined;
  };
  try {
    const claimed = await waitFor({ directory, timeoutMs, check: claim });
    if (claimed === undefined) throw new StoreError(refusal);
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function othersClaim(directory: string, own: string): Promise<boolean> {
  for (const name of await readdir(directory)) {
    if (name === own) continue;
    const [pid = '', ticks = ''] = name.split('-');
    if ((await startTicks(Number(pid))) === ticks) return true;
    await rm(path.join(directory, name), { force: true });
  }
  return false;
}

/**
 * When a living process started, in clock ticks since boot (proc(5): fields 3 and 22 of /proc/pid/stat, counted from the end
 * of its name). A zombie counts as dead: in a container it may never be reaped.
 */
export async function startTicks(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}
