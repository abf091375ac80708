import { parseArgs } from 'node:util';
import { type Bench, type Figure, verdictOf } from './figure.ts';
import { coldStart } from './figures/cold-start.ts';
import { getSession } from './figures/get-session.ts';
import { idle } from './figures/idle.ts';
import { liveSessions } from './figures/live-sessions.ts';
import { proxy } from './figures/proxy.ts';
import { socketRelay } from './figures/socket-relay.ts';
import { warmStart } from './figures/warm-start.ts';
import { renderTable } from './table.ts';

const benches: readonly Bench[] = [warmStart, getSession, proxy, socketRelay, liveSessions, idle, coldStart];

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
