import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, megabytes, percentOfCore } from '../figure.ts';
import { heapAfterCollection } from '../inspector.ts';
import { cpuSeconds, cpuShare, familyCpuSeconds, residentBytes } from '../process-usage.ts';
import { type Service, withService } from '../service.ts';
import { poolOf, startSession } from '../sessions.ts';

const names = ['flock-one', 'flock-two'] as const;

/** The service's memory and CPU per live session, with one sample of each session per second. */
export const liveSessions: Bench = {
  name: 'live-sessions',
  run: async ({ quick }) => {
    const each = quick ? 10 : 50;
    const agents = names.map((name) => ({ name, bot: 'tiny', minAgents: each, maxAgents: each }) as const);
    return withService({ agents, nodeArguments: ['--inspect=127.0.0.1:0'] }, async (service) => {
      for (const name of names) await poolOf(service, name, each);
      const seconds = quick ? 5 : 20;
      const idle = await measure(service, seconds);
      const count = each * names.length;
      for (const name of names) for (let index = 0; index < each; index++) await startSession(service, name);
      const live = await measure(service, seconds);
      return [
        {
          what: `a live session in the service's memory (${count} of them)`,
          ours: `${kilobytes((live.resident - idle.resident) / count)} resident`,
          reference: `${kilobytes((live.heap - idle.heap) / count)} of it heap in use`,
          ratio: null,
          limit: null,
        },
        {
          what: `sampling ${count} live instances each second`,
          ours: `${percentOfCore(live.cpu)}, database ${percentOfCore(live.databaseCpu)}`,
          reference: `${percentOfCore(idle.cpu)}, database ${percentOfCore(idle.databaseCpu)} while they wait`,
          ratio: null,
          limit: null,
        },
        {
          what: `the service with ${count} sessions`,
          ours: megabytes(live.resident),
          reference: megabytes(idle.resident),
          ratio: null,
          limit: null,
        },
      ];
    });
  },
};

/** CPU over some seconds, then memory after a garbage collection. */
async function measure(service: Service, seconds: number) {
  let cpu = 0;
  const database = () => familyCpuSeconds(service.postmaster);
  const databaseCpu = await cpuShare(database, async () => {
    cpu = await cpuShare(
      () => cpuSeconds(service.pid),
      () => delay(seconds * 1000),
    );
  });
  const heap = await heapAfterCollection(await service.output());
  return { cpu, databaseCpu, heap, resident: await residentBytes(service.pid) };
}

const kilobytes = (bytes: number): string => `${(bytes / 1e3).toFixed(1)} kB`;
