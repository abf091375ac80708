import { setTimeout as delay } from 'node:timers/promises';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { type Benchmark, formatMegabytes, formatPercentOfCore } from '../figure.ts';
import { measureHeapBytes } from '../inspector.ts';
import { measureCpuShare, readCpuSeconds, readResidentBytes, readTreeCpuSeconds } from '../process-usage.ts';
import { startSession, waitForWarmInstances } from '../sessions.ts';

/** Several agents, because one has at most 50 instances. */
const names = ['flock-one', 'flock-two', 'flock-three', 'flock-four'] as const;

/** Measures the service's memory and CPU per live session. The service samples each session once a second. */
export const liveSessionsBench: Benchmark = {
  name: 'live-sessions',
  run: ({ quick, report }) => {
    const each = quick ? 5 : 25;
    const agents = names.map((name) => ({ name, bot: 'tiny', minAgents: each, maxAgents: each + 1 }) as const);
    return withService({ agents, nodeArguments: ['--inspect=127.0.0.1:0'] }, async (service) => {
      // The first session has costs that later ones do not have, such as the creation of response schemas.
      for (const name of names) {
        await waitForWarmInstances(service, name, each);
        await startSession(service, name);
        await waitForWarmInstances(service, name, each);
      }
      const seconds = quick ? 5 : 20;
      const idle = await measure(service, seconds);
      const count = each * names.length;
      for (const name of names) for (let index = 0; index < each; index++) await startSession(service, name);
      const live = await measure(service, seconds);
      report(
        {
          what: `a live session in the service's memory (${count} of them)`,
          ours: `${kilobytes((live.resident - idle.resident) / count)} resident`,
          reference: `${kilobytes((live.heap - idle.heap) / count)} of it heap in use`,
          ratio: null,
          limit: null,
        },
        {
          what: `sampling ${count} live instances each second`,
          ours: `${formatPercentOfCore(live.cpu)}, database ${formatPercentOfCore(live.databaseCpu)}`,
          reference: `${formatPercentOfCore(idle.cpu)}, database ${formatPercentOfCore(idle.databaseCpu)} while they wait`,
          ratio: null,
          limit: null,
        },
        {
          what: `the service with ${count} sessions`,
          ours: formatMegabytes(live.resident),
          reference: formatMegabytes(idle.resident),
          ratio: null,
          limit: null,
        },
      );
    });
  },
};

/** Measures CPU use for `seconds`, then memory after a garbage collection. */
async function measure(service: BenchmarkedService, seconds: number) {
  let cpu = 0;
  const database = () => readTreeCpuSeconds(service.postmaster);
  const databaseCpu = await measureCpuShare(database, async () => {
    cpu = await measureCpuShare(
      () => readCpuSeconds(service.pid),
      () => delay(seconds * 1000),
    );
  });
  const heap = await measureHeapBytes(await service.output());
  return { cpu, databaseCpu, heap, resident: await readResidentBytes(service.pid) };
}

const kilobytes = (bytes: number): string => `${(bytes / 1e3).toFixed(1)} kB`;
