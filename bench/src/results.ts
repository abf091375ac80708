import { readFile, writeFile } from 'node:fs/promises';
import { arch, cpus, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository.ts';

const begin = '<!-- results: written by npm run bench -- --write -->';
const end = '<!-- end of results -->';

/** Writes the table between the two marks in `docs/performance.md`, with the date and the class of the machine. */
export async function writeResults(table: string, now: Date): Promise<void> {
  const file = join(repositoryRoot, 'docs/performance.md');
  const text = await readFile(file, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${file} does not contain the marks for the results.`);
  const head = `${now.toISOString().slice(0, 10)}, ${machine()}`;
  await writeFile(file, `${text.slice(0, from + begin.length)}\n\n${head}:\n\n${table}\n\n${text.slice(to)}`);
}

/** Describes the CPU and memory of this machine without its name. */
function machine(): string {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores, ${gigabytes} GB, ${platform()} ${arch()}, Node ${process.version.slice(1)}`;
}
