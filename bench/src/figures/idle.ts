import { setTimeout as delay } from 'node:timers/promises';
import { withService } from '../benchmarked-service.ts';
import { type Benchmark, formatMegabytes, formatPercentOfCore } from '../figure.ts';
import {
  findProcessTree,
  measureCpuShare,
  readCpuSeconds,
  readProportionalSetBytes,
  readTreeCpuSeconds,
} from '../process-usage.ts';

/** Measures the CPU and memory of the idle service with its database. */
export const idleBench: Benchmark = {
  name: 'idle',
  run: ({ quick, report }) =>
    withService({ agents: [] }, async (service) => {
      const postgres = await findProcessTree(service.postmaster);
      const all = [service.pid, ...postgres];
      const total = async () => (await readCpuSeconds(service.pid)) + (await readTreeCpuSeconds(service.postmaster));
      const cpu = await measureCpuShare(total, () => delay(quick ? 3_000 : 30_000));
      report(
        {
          what: 'idle service with its database, resident',
          ours: formatMegabytes(await readProportionalSetBytes(all)),
          reference: `service ${formatMegabytes(await readProportionalSetBytes([service.pid]))}, database ${formatMegabytes(await readProportionalSetBytes(postgres))}`,
          ratio: null,
          limit: null,
        },
        {
          what: 'idle service with its database, CPU',
          ours: formatPercentOfCore(cpu),
          reference: '',
          ratio: null,
          limit: null,
        },
      );
    }),
};
