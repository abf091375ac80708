import { parseArgs } from 'node:util';
import { type Benchmark, type BenchmarkFigure, compareFigureWithLimit } from './figure.ts';
import { coldStartBench } from './figures/cold-start.ts';
import { dashboardBench } from './figures/dashboard.ts';
import { deployBench } from './figures/deploy.ts';
import { callStartBench } from './figures/first-second.ts';
import { sessionReadBench } from './figures/get-session.ts';
import { idleBench } from './figures/idle.ts';
import { liveSessionsBench } from './figures/live-sessions.ts';
import { logCaptureBench } from './figures/log-capture.ts';
import { proxyBench } from './figures/proxy.ts';
import { pythonStartBench } from './figures/python-start.ts';
import { scaffoldBench } from './figures/scaffold.ts';
import { secretsBench } from './figures/secrets.ts';
import { socketRelayBench } from './figures/socket-relay.ts';
import { warmStartBench } from './figures/warm-start.ts';
import { abortOnSignals } from './interruption.ts';
import { writeResults } from './results.ts';
import { renderTable } from './table.ts';

const benches: readonly Benchmark[] = [
  warmStartBench,
  sessionReadBench,
  proxyBench,
  socketRelayBench,
  liveSessionsBench,
  logCaptureBench,
  idleBench,
  coldStartBench,
  pythonStartBench,
  callStartBench,
  scaffoldBench,
  deployBench,
  secretsBench,
  dashboardBench,
];
const names = benches.map((bench) => bench.name);
const ownTables = benches.filter((bench) => bench.hasOwnTable).map((bench) => bench.name);
const usage = `npm run bench -- [${names.join(' | ')}]... [--quick] [--strict] [--write]

  --quick   few samples and rows: to see that it works, not to quote
  --strict  exit status 1 when a limit is passed over; by default only the table says so, as machines are noisy
  --write   writes the table to docs/performance.md; only for a run of all benches, or of ${ownTables.join(', ')}
`;

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const options = { quick: flag, strict: flag, write: flag, help: flag };
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const unknown = positionals.filter((name) => !names.includes(name));
  const isWritable = !values.quick && positionals.every((name) => ownTables.includes(name));
  if (values.help || unknown.length > 0 || (values.write && !isWritable)) {
    process.stderr.write(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  abortOnSignals();
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const all: BenchmarkFigure[] = [];
  const common: BenchmarkFigure[] = [];
  for (const bench of benches) {
    if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
    log(`${bench.name} ...`);
    const figures = await bench.run({ quick: values.quick, log });
    all.push(...figures);
    if (!bench.hasOwnTable) common.push(...figures);
    else if (values.write) await writeResults(renderTable(figures), bench.name, new Date());
  }
  process.stdout.write(`${renderTable(all)}\n`);
  if (values.write && positionals.length === 0) await writeResults(renderTable(common), null, new Date());
  if (values.strict && all.some((figure) => compareFigureWithLimit(figure) === 'over')) process.exitCode = 1;
}

await main();
