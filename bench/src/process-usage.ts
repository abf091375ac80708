import { readdir, readFile } from 'node:fs/promises';

/** `USER_HZ`, the number of CPU ticks per second in proc(5). It is 100 on every Linux that Node supports. */
const ticksPerSecond = 100;

/** Returns the user and system CPU seconds of a process, without its children (proc(5), stat). */
export async function readCpuSeconds(pid: number): Promise<number> {
  const fields = fieldsOf(await readFile(`/proc/${pid}/stat`, 'utf8'));
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Returns the CPU seconds of a process and its children, including exited ones. */
export async function readTreeCpuSeconds(pid: number): Promise<number> {
  const children = (await findProcessTree(pid)).slice(1);
  // Read the children before their parent: when a child exits, its CPU time is added to that of its parent.
  const living = await Promise.all(children.map((child) => readCpuSeconds(child).catch(() => 0)));
  const fields = fieldsOf(await readFile(`/proc/${pid}/stat`, 'utf8'));
  const own = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) / ticksPerSecond;
  return living.reduce((sum, seconds) => sum + seconds, own);
}

/**
 * Splits the content of `/proc/PID/stat` into fields, starting with field 3 of proc_pid_stat(5). Field 2, the program name in
 * parentheses, may contain spaces.
 */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

export async function readResidentBytes(pid: number): Promise<number> {
  return kilobytesOf(await readFile(`/proc/${pid}/status`, 'utf8'), 'VmRSS');
}

/** Returns the resident memory of several processes in bytes, with shared pages counted once (proc(5), smaps_rollup, Pss). */
export async function readProportionalSetBytes(pids: readonly number[]): Promise<number> {
  const read = (pid: number) => readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => 'Pss: 0 kB');
  const texts = await Promise.all(pids.map(read));
  return texts.reduce((sum, text) => sum + kilobytesOf(text, 'Pss'), 0);
}

export async function findProcessTree(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    parents.set(Number(name), Number(fieldsOf(stat)[1]));
  }
  const tree = [pid];
  for (const member of tree) {
    for (const [child, parent] of parents) if (parent === member) tree.push(child);
  }
  return tree;
}

/**
 * Returns the CPU seconds used per second while `during` runs; 1 is one full core. `total` returns the CPU seconds that the
 * measured processes have used so far.
 */
export async function measureCpuShare(total: () => Promise<number>, during: () => Promise<unknown>): Promise<number> {
  const [cpu, time] = [await total(), performance.now()];
  await during();
  return ((await total()) - cpu) / ((performance.now() - time) / 1000);
}

function kilobytesOf(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN) * 1024;
}
