import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { type Benchmark, compareFigureWithLimit } from './figure.ts';
import { coldStartBench } from './figures/cold-start.ts';
import { conversationBench } from './figures/conversations.ts';
import { dashboardBench } from './figures/dashboard.ts';
import { deployBench } from './figures/deploy.ts';
import { dockerBench } from './figures/docker.ts';
import { callStartBench } from './figures/first-second.ts';
import { sessionReadBench } from './figures/get-session.ts';
import { idleBench } from './figures/idle.ts';
import { kubernetesBench } from './figures/kubernetes.ts';
import { kubernetesVoiceBench } from './figures/kubernetes-voice.ts';
import { liveSessionsBench } from './figures/live-sessions.ts';
import { logCaptureBench } from './figures/log-capture.ts';
import { overviewBench } from './figures/overview.ts';
import { proxyBench } from './figures/proxy.ts';
import { pythonStartBench } from './figures/python-start.ts';
import { scaffoldBench } from './figures/scaffold.ts';
import { secretsBench } from './figures/secrets.ts';
import { socketRelayBench } from './figures/socket-relay.ts';
import { warmStartBench } from './figures/warm-start.ts';
import { abortOnSignals } from './interruption.ts';
import { repositoryRoot } from './repository.ts';
import { writeRow } from './results.ts';
import { renderTable, toCells } from './table.ts';

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
  conversationBench,
  scaffoldBench,
  deployBench,
  secretsBench,
  dockerBench,
  kubernetesBench,
  kubernetesVoiceBench,
  dashboardBench,
  overviewBench,
];
const names = benches.map((bench) => bench.name);
const usage = `npm run bench -- [${names.join(' | ')}]... [--quick] [--strict] [--write]

  --quick   few samples and rows: to see that it works, not to quote
  --strict  exits with status 1 if a limit is exceeded; by default only the table says so, because machines are noisy
  --write   writes each row to docs/performance.md as soon as it is measured; not with --quick
`;

async function main(): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const options = { quick: flag, strict: flag, write: flag, help: flag };
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const unknown = positionals.filter((name) => !names.includes(name));
  if (values.help || unknown.length > 0 || (values.write && values.quick)) {
    process.stderr.write(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  abortOnSignals();
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const measured = `${new Date().toISOString().slice(0, 10)}, ${describeCommit()}`;
  const rows: (readonly string[])[] = [];
  for (const bench of benches) {
    if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
    log(`${bench.name} ...`);
    await bench.run({
      quick: values.quick,
      log,
      report: (...figures) => {
        for (const figure of figures) {
          const cells = toCells(figure, measured);
          rows.push(cells);
          log(cells.join(' | '));
          if (values.write) writeRow(cells, bench.hasOwnTable ? bench.name : null);
          if (values.strict && compareFigureWithLimit(figure) === 'over') process.exitCode = 1;
        }
      },
    });
  }
  process.stdout.write(`${renderTable(rows)}\n`);
}

/** The abbreviated commit of the measured programs, with `-dirty` if files differ from it. */
function describeCommit(): string {
  return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: repositoryRoot, encoding: 'utf8' }).trim();
}

await main();
