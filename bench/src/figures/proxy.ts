import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import {
  type Benchmark,
  type BenchmarkFigure,
  type BenchmarkOptions,
  formatMilliseconds,
  formatPerSecond,
} from '../figure.ts';
import { compareServersUnderLoad } from '../load.ts';
import { startBenchmarkProgram } from '../program.ts';
import { type Session, startSession, waitForWarmInstances } from '../sessions.ts';

const limit = { least: 0.7 } as const;
const agent = { name: 'answers', bot: 'tiny', minAgents: 1, maxAgents: 2, profile: 'agent-3x' } as const;

/** Compares requests to a bot through the session proxy with requests through a minimal Node proxy and with direct requests. */
export const proxyBench: Benchmark = {
  name: 'proxy',
  run: (options) =>
    withService({ agents: [agent] }, async (service) => {
      await waitForWarmInstances(service, agent.name, 1);
      const session = await startSession(service, agent.name);
      const thin = await startBenchmarkProgram('thin-proxy', [session.host, String(session.port)]);
      try {
        const targets = (path: string) => targetsOf(service, session, thin.origin, path);
        options.report(await throughput('a small answer', targets('/small'), options));
        options.report(await throughput('64 KB', targets('/large'), options));
        options.report(await latency(targets('/small'), options));
      } finally {
        await thin.stop();
      }
    }),
};

type Targets = ReturnType<typeof targetsOf>;

function targetsOf(service: BenchmarkedService, session: Session, thin: string, path: string) {
  const headers = { authorization: `Bearer ${service.publicKey}` };
  return {
    ours: {
      origin: service.origin,
      headers,
      path: () => `/v1/public/${agent.name}/sessions/${session.id}${path}`,
    },
    // Send the same headers to each target, so that all requests have the same size.
    thin: { origin: thin, headers, path: () => path },
    direct: { origin: `http://${session.host}:${session.port}`, headers, path: () => path },
  };
}

async function throughput(
  what: string,
  { ours, thin }: Targets,
  { quick }: BenchmarkOptions,
): Promise<BenchmarkFigure> {
  const options = { connections: 16, seconds: quick ? 1 : 4, rounds: quick ? 3 : 7 };
  const { perSecond: speeds, ratios } = await compareServersUnderLoad([ours, thin], options);
  return {
    what: `proxy, ${what}`,
    ours: formatPerSecond(speeds[0] ?? 0),
    reference: `${formatPerSecond(speeds[1] ?? 0)} thin proxy`,
    ratio: ratios[0] ?? null,
    limit,
  };
}

/** Sends one request at a time, to measure the proxy without a queue. */
async function latency({ ours, thin, direct }: Targets, { quick }: BenchmarkOptions): Promise<BenchmarkFigure> {
  const options = { connections: 1, seconds: quick ? 0.5 : 2, rounds: quick ? 3 : 7 };
  const { p99 } = await compareServersUnderLoad([ours, thin, direct], options);
  const [one = Number.NaN, other = Number.NaN, bare = Number.NaN] = p99;
  return {
    what: 'proxy, latency that it adds, p99',
    ours: formatMilliseconds(one - bare),
    reference: `${formatMilliseconds(other - bare)} thin proxy (direct ${formatMilliseconds(bare)})`,
    ratio: null,
    limit: null,
  };
}
