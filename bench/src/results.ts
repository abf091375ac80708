import { readFile, writeFile } from 'node:fs/promises';
import { arch, cpus, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { root } from './repository.ts';

const begin = '<!-- results: written by npm run bench -- --write -->';
const end = '<!-- end of results -->';

/** Writes the table, with its date and the class of the machine, between the two marks in `docs/performance.md`. */
export async function writeResults(table: string, now: Date): Promise<void> {
  const file = join(root, 'docs/performance.md');
  const text = await readFile(file, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} does not contain the marks for the results.`);
  const head = `${now.toISOString().slice(0, 10)}, ${machine()}`;
  await writeFile(file, `${text.slice(0, from + begin.length)}\n\n${head}:\n\n${table}\n\n${text.slice(to)}`);
}

/** CPU and memory, without the machine's name. */
function machine(): string {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores, ${gigabytes} GB, ${platform()} ${arch()}, Node ${process.version.slice(1)}`;
}
