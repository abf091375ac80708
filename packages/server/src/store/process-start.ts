import { readFile } from 'node:fs/promises';

/**
 * When a living process started, in clock ticks since boot (proc(5): fields 3 and 22 of /proc/pid/stat, counted behind its
 * name). A zombie counts as dead: in a container nobody may ever reap it.
 */
export async function startTicks(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}
