import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import {
  type BenchmarkedService,
  respondsWith200,
  withService,
  withTemporaryDirectory,
} from '../benchmarked-service.ts';
import {
  type Benchmark,
  type BenchmarkFigure,
  formatMilliseconds,
  formatPercentOfCore,
  formatPerSecond,
} from '../figure.ts';
import { findFreePort } from '../free-port.ts';
import { measureCpuShare, readCpuSeconds } from '../process-usage.ts';
import { minimalEnvironment, stopChildProcess } from '../program.ts';
import type { PrintingMeasurement, PrintRequest } from '../programs/printing-bot.ts';
import { quantile } from '../quantile.ts';
import { startSession, waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';

const talker = { name: 'talker', bot: 'printing', minAgents: 1, maxAgents: 1, profile: 'agent-3x' } as const;
const other = { name: 'other', bot: 'tiny', minAgents: 1, maxAgents: 1 } as const;
const linesPerSecond = 10_000;

/**
 * Measures a bot that prints 10,000 lines a second, in the service and with a plain file as its output. Also measures how much
 * the printing slows down other sessions.
 */
export const logCaptureBench: Benchmark = {
  name: 'log-capture',
  run: async ({ quick, report }) => {
    const order = { perSecond: linesPerSecond, seconds: quick ? 5 : 60 };
    const plain = await printPlain(order);
    await withService({ agents: [talker, other] }, async (service) => {
      for (const { name } of [talker, other]) await waitForWarmInstances(service, name, 1);
      const talking = await startSession(service, talker.name);
      const quiet = await startSession(service, other.name);
      const path = `/v1/public/${other.name}/sessions/${quiet.id}/small`;
      const calm = await watch(service, path, () => delay(order.seconds * 1000));
      let captured: PrintingMeasurement | null = null;
      const busy = await watch(service, path, async () => {
        captured = await print(`http://${talking.host}:${talking.port}`, order);
      });
      if (captured === null) throw new Error('The bot printed nothing.');
      report(
        ...comparePrintingMeasurements(captured, plain),
        ...compareOthers(busy, calm),
        ...(await readBack(service, talking.id, order)),
      );
    });
  },
};

/** Runs the printing bot without the service, with its output redirected to a plain file. */
async function printPlain(order: PrintRequest): Promise<PrintingMeasurement> {
  return withTemporaryDirectory(async (directory) => {
    const port = await findFreePort();
    const file = await open(join(directory, 'printed'), 'a');
    const program = fileURLToPath(new URL('../programs/printing-bot.js', import.meta.url));
    const env = { ...minimalEnvironment, PORT: String(port) };
    const child = spawn(process.execPath, [program], { stdio: ['ignore', file.fd, file.fd], env });
    try {
      const origin = `http://127.0.0.1:${port}`;
      await waitUntil('the printing program', async () =>
        (await respondsWith200(`${origin}/readyz`)) ? true : undefined,
      );
      return await print(origin, order);
    } finally {
      await stopChildProcess(child);
      await file.close();
    }
  });
}

async function print(origin: string, order: PrintRequest): Promise<PrintingMeasurement> {
  const options = { method: 'POST', body: JSON.stringify(order), headersTimeout: 0, bodyTimeout: 0 } as const;
  const answer = await request(`${origin}/print`, options);
  return (await answer.body.json()) as PrintingMeasurement;
}

type ServiceLoad = { readonly cpu: number; readonly p50: number; readonly p99: number };

/**
 * While `during` runs, sends small requests to another session, one at a time. Measures their latency and the service's CPU
 * use.
 */
async function watch(service: BenchmarkedService, path: string, during: () => Promise<unknown>): Promise<ServiceLoad> {
  const times: number[] = [];
  let isOver = false;
  const headers = { authorization: `Bearer ${service.publicKey}` };
  const asking = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await (await request(`${service.origin}${path}`, { headers })).body.dump();
      times.push(performance.now() - begun);
      await delay(5);
    }
  })();
  const cpu = await measureCpuShare(() => readCpuSeconds(service.pid), during);
  isOver = true;
  await asking;
  return { cpu, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

function comparePrintingMeasurements(
  captured: PrintingMeasurement,
  plain: PrintingMeasurement,
): readonly BenchmarkFigure[] {
  const speed = ({ lines, seconds }: PrintingMeasurement) => lines / seconds;
  const share = ({ cpuSeconds: cpu, seconds }: PrintingMeasurement) => cpu / seconds;
  const writing = ({ writeSeconds, lines }: PrintingMeasurement) =>
    `${((writeSeconds / lines) * 1e6).toFixed(2)} µs a line written`;
  return [
    {
      what: 'a bot that prints 10,000 lines/s: what it gets out',
      ours: formatPerSecond(speed(captured)),
      reference: `${formatPerSecond(speed(plain))} into a file of its own`,
      ratio: speed(captured) / speed(plain),
      limit: { least: 0.98 },
    },
    {
      what: 'its own CPU',
      ours: `${formatPercentOfCore(share(captured))}, ${writing(captured)}`,
      reference: `${formatPercentOfCore(share(plain))}, ${writing(plain)}`,
      ratio: share(captured) / share(plain),
      limit: null,
    },
  ];
}

function compareOthers(busy: ServiceLoad, calm: ServiceLoad): readonly BenchmarkFigure[] {
  const times = ({ p50, p99 }: ServiceLoad) => `p50 ${formatMilliseconds(p50)}, p99 ${formatMilliseconds(p99)}`;
  return [
    {
      what: 'the service meanwhile, with 150 small requests/s',
      ours: formatPercentOfCore(busy.cpu),
      reference: `${formatPercentOfCore(calm.cpu)} without printing`,
      ratio: null,
      limit: null,
    },
    {
      what: 'a small request to another session meanwhile',
      ours: times(busy),
      reference: `${times(calm)} without printing`,
      ratio: null,
      limit: null,
    },
  ];
}

/** Reads the stored lines in three ways: the last lines, a search for a line in the middle, and a count of all lines. */
async function readBack(
  service: BenchmarkedService,
  sessionId: string,
  order: PrintRequest,
): Promise<readonly BenchmarkFigure[]> {
  const all = order.perSecond * order.seconds;
  const ask = async (query: string) => {
    const begun = performance.now();
    const url = `${service.origin}/v1/agents/${talker.name}/logs?sessionId=${sessionId}&${query}`;
    const answer = await request(url, { headers: { authorization: `Bearer ${service.privateKey}` } });
    const page = (await answer.body.json()) as { logs: { log: string }[]; nextCursor: string | null };
    return { ...page, took: performance.now() - begun };
  };
  const last = `line ${all - 1} of`;
  const end = await waitUntil('the last line', async () => {
    const page = await ask('limit=100');
    return page.logs[0]?.log.includes(last) === true ? page : undefined;
  });
  let found = 0;
  let took = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await ask(
      `query=${encodeURIComponent(`LINE ${Math.floor(all / 2)} OF`)}&limit=100&cursor=${cursor}`.replace(
        /&cursor=$/,
        '',
      ),
    );
    found += page.logs.length;
    took += page.took;
    cursor = page.nextCursor;
  }
  let kept = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await ask(
      `order=asc&limit=10000&endTime=${Math.ceil(Date.now() / 1000) - 1}&cursor=${cursor}`.replace(/&cursor=$/, ''),
    );
    kept += page.logs.filter(({ log }) => log.includes('of what a talkative bot says')).length;
    cursor = page.nextCursor;
  }
  return [
    {
      what: `its log: ${all} lines, of which are kept`,
      ours: String(kept),
      reference: `the last 100 in ${formatMilliseconds(end.took)}, ${found} found among all in ${formatMilliseconds(took)}`,
      ratio: kept / all,
      limit: { least: 1 },
    },
  ];
}
