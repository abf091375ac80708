import { parseArgs } from 'node:util';
import type { Bench, Figure } from './figure.ts';
import { verdictOf } from './figure.ts';
import { getSession } from './figures/get-session.ts';
import { renderTable } from './table.ts';

const benches: readonly Bench[] = [getSession];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, strict: { type: 'boolean', default: false } },
});
const log = (line: string) => void process.stderr.write(`${line}\n`);
const figures: Figure[] = [];
for (const bench of benches) {
  if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
  log(`== ${bench.name}`);
  const found = await bench.run({ quick: values.quick, log });
  figures.push(...found);
  log(renderTable(found));
}
process.stdout.write(`${renderTable(figures)}\n`);
if (values.strict && figures.some((figure) => verdictOf(figure) === 'over')) process.exitCode = 1;
