import { readFile, writeFile } from 'node:fs/promises';
import { arch, cpus, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository.ts';

/**
 * Writes the results table between two markers in `docs/performance.md`, with the date and a description of the machine. `bench`
 * is the name of the benchmark if it has a separate table, or null for the common table.
 */
export async function writeResults(table: string, bench: string | null, now: Date): Promise<void> {
  const begin = `<!-- results: written by npm run bench -- ${bench === null ? '' : `${bench} `}--write -->`;
  const end = '<!-- end of results -->';
  const file = join(repositoryRoot, 'docs/performance.md');
  const text = await readFile(file, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0)
    throw new Error(`${file} does not contain the two markers between which the results are written.`);
  const head = `${now.toISOString().slice(0, 10)}, ${machine()}`;
  await writeFile(file, `${text.slice(0, from + begin.length)}\n\n${head}:\n\n${table}\n\n${text.slice(to)}`);
}

/** Describes the CPU, memory and platform of this machine, but not its host name. */
function machine(): string {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores, ${gigabytes} GB, ${platform()} ${arch()}, Node ${process.version.slice(1)}`;
}
