import { parseArgs } from 'node:util';
import { type Bench, type Figure, judgeFigure } from './figure.ts';
import { coldStartBench } from './figures/cold-start.ts';
import { deployBench } from './figures/deploy.ts';
import { getSessionBench } from './figures/get-session.ts';
import { idleBench } from './figures/idle.ts';
import { liveSessionsBench } from './figures/live-sessions.ts';
import { logCaptureBench } from './figures/log-capture.ts';
import { proxyBench } from './figures/proxy.ts';
import { pythonStartBench } from './figures/python-start.ts';
import { scaffoldBench } from './figures/scaffold.ts';
import { secretsBench } from './figures/secrets.ts';
import { socketRelayBench } from './figures/socket-relay.ts';
import { warmStartBench } from './figures/warm-start.ts';
import { writeResults } from './results.ts';
import { renderTable } from './table.ts';

const benches: readonly Bench[] = [
  warmStartBench,
  getSessionBench,
  proxyBench,
  socketRelayBench,
  liveSessionsBench,
  logCaptureBench,
  idleBench,
  coldStartBench,
  pythonStartBench,
  scaffoldBench,
  deployBench,
  secretsBench,
];
const names = benches.map((bench) => bench.name);
const usage = `npm run bench -- [${names.join(' | ')}]... [--quick] [--strict] [--write]

  --quick   few samples and rows: to see that it works, not to quote
  --strict  exit status 1 when a limit is passed over; by default only the table says so, as machines are noisy
  --write   puts the table into docs/performance.md; only of a whole run
`;

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const options = { quick: flag, strict: flag, write: flag, help: flag };
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const unknown = positionals.filter((name) => !names.includes(name));
  const isPartial = values.quick || positionals.length > 0;
  if (values.help || unknown.length > 0 || (values.write && isPartial)) {
    process.stderr.write(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const figures: Figure[] = [];
  for (const bench of benches) {
    if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
    log(`${bench.name} ...`);
    figures.push(...(await bench.run({ quick: values.quick, log })));
  }
  const table = renderTable(figures);
  process.stdout.write(`${table}\n`);
  if (values.write) await writeResults(table, new Date());
  if (values.strict && figures.some((figure) => judgeFigure(figure) === 'over')) process.exitCode = 1;
}

await main();
