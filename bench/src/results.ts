import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from './repository.ts';
import { parseRows, renderTable } from './table.ts';

const file = join(repositoryRoot, 'docs/performance.md');
const end = '<!-- end of results -->';

/**
 * Writes a row into a table of `docs/performance.md`. It replaces the row with the same first cell. `bench` is the name of the
 * benchmark if it has a separate table, or null for the common table.
 */
export function writeRow(cells: readonly string[], bench: string | null): void {
  const begin = `<!-- results: written by npm run bench -- ${bench === null ? '' : `${bench} `}--write -->`;
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end, from);
  if (from < begin.length || to < 0)
    throw new Error(`${file} does not contain the two markers between which the results are written.`);
  const rows = [...parseRows(text.slice(from, to))];
  const position = rows.findIndex(([what]) => what === cells[0]);
  rows.splice(position < 0 ? rows.length : position, 1, cells);
  writeFileSync(file, `${text.slice(0, from)}\n\n${machine()}:\n\n${renderTable(rows)}\n\n${text.slice(to)}`);
}

/** Describes the CPU, memory and platform of this machine, but not its host name. */
function machine(): string {
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores, ${gigabytes} GB, ${platform()} ${arch()}, Node ${process.version.slice(1)}`;
}
