import { readdir, readFile } from 'node:fs/promises';

/** `USER_HZ` of every Linux that Node runs on: the unit of CPU times in proc(5). */
const ticksPerSecond = 100;

/** CPU seconds that a process has used so far, user and system, without its children (proc(5), stat). */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name before the last parenthesis may hold spaces; the fields after it are counted from the third.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident bytes of one process. */
export async function residentBytes(pid: number): Promise<number> {
  return kilobytesOf(await readFile(`/proc/${pid}/status`, 'utf8'), 'VmRSS');
}

/** Resident bytes of some processes together: what they share is counted once (proc(5), smaps_rollup, Pss). */
export async function sharedResidentBytes(pids: readonly number[]): Promise<number> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/smaps_rollup`, 'utf8')));
  return texts.reduce((sum, text) => sum + kilobytesOf(text, 'Pss'), 0);
}

/** A process and all that descend from it. */
export async function familyOf(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const family = [pid];
  for (const member of family) {
    for (const [child, parent] of parents) if (parent === member) family.push(child);
  }
  return family;
}

/** The share of one core that processes use over some time. */
export async function cpuShare(pids: readonly number[], during: () => Promise<unknown>): Promise<number> {
  const total = async () => (await Promise.all(pids.map(cpuSeconds))).reduce((sum, seconds) => sum + seconds, 0);
  const [cpu, time] = [await total(), performance.now()];
  await during();
  return ((await total()) - cpu) / ((performance.now() - time) / 1000);
}

function kilobytesOf(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024;
}
