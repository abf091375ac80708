import { Client, type Dispatcher } from 'undici';
import { median, quantile } from './quantile.ts';

/** A server to which the benchmark sends requests. `path` returns the path of the next request. */
export type LoadTarget = {
  readonly origin: string;
  readonly headers?: Record<string, string>;
  readonly path: () => string;
};

type Round = { readonly perSecond: number; readonly latencies: readonly number[] };

/**
 * Sends requests over persistent connections. Each connection sends its next request when it has received a response. Rejects if
 * a status is not 200.
 */
async function load(target: LoadTarget, connections: number, seconds: number): Promise<Round> {
  const clients = Array.from({ length: connections }, () => new Client(target.origin, { pipelining: 1 }));
  const latencies: number[] = [];
  try {
    // Open the connection before the measurement starts.
    await Promise.all(clients.map((client) => ask(client, target)));
    const begin = performance.now();
    const end = begin + seconds * 1000;
    const loop = async (client: Client) => {
      for (let before = performance.now(); before < end; ) {
        await ask(client, target);
        const after = performance.now();
        latencies.push(after - before);
        before = after;
      }
    };
    await Promise.all(clients.map(loop));
    return { perSecond: (latencies.length * 1000) / (performance.now() - begin), latencies };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

function ask(client: Client, { headers, path }: LoadTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (_, statusCode) => {
        status = statusCode;
      },
      onResponseData: () => undefined,
      onResponseEnd: () => (status === 200 ? resolve() : reject(new Error(`A request failed with status ${status}.`))),
      onResponseError: (_, error) => reject(error),
    };
    client.dispatch({ method: 'GET', path: path(), headers: headers ?? {} }, handler);
  });
}

export type ServerLoadComparison = {
  /** Requests per second of each target (median over all rounds). */
  readonly perSecond: readonly number[];
  /**
   * Relative throughput of each target (median over all rounds): its requests per second divided by the requests per second
   * that the final target in the list reached in the same round.
   */
  readonly ratios: readonly number[];
  readonly p99: readonly number[];
};

/**
 * Sends load to the targets in turns, so that other work on the machine affects all of them equally. The first round is longer
 * and only warms up the targets.
 */
export async function compareServersUnderLoad(
  targets: readonly LoadTarget[],
  { connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<ServerLoadComparison> {
  const results: Round[][] = [];
  for (let round = 0; round <= rounds; round++) {
    const turn: Round[] = [];
    const time = round === 0 ? Math.max(3, seconds) * 2 : seconds;
    for (const target of targets) turn.push(await load(target, connections, time));
    if (round > 0) results.push(turn);
  }
  const column = (index: number) => results.flatMap((turn) => turn[index] ?? []);
  const last = column(targets.length - 1);
  return {
    perSecond: targets.map((_, index) => median(column(index).map((round) => round.perSecond))),
    ratios: targets.map((_, index) =>
      median(column(index).map((round, turn) => round.perSecond / (last[turn]?.perSecond ?? Number.NaN))),
    ),
    p99: targets.map((_, index) =>
      quantile(
        column(index).flatMap((round) => round.latencies),
        0.99,
      ),
    ),
  };
}
