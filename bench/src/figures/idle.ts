import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, formatMegabytes, formatPercentOfCore } from '../figure.ts';
import {
  findProcessTree,
  measureCpuShare,
  readCpuSeconds,
  readFamilyCpuSeconds,
  readSharedResidentBytes,
} from '../process-usage.ts';
import { withService } from '../service.ts';

/** Measures the CPU and memory of the idle service with its database. */
export const idleBench: Bench = {
  name: 'idle',
  run: async ({ quick }) =>
    withService({ agents: [] }, async (service) => {
      const postgres = await findProcessTree(service.postmaster);
      const all = [service.pid, ...postgres];
      const total = async () => (await readCpuSeconds(service.pid)) + (await readFamilyCpuSeconds(service.postmaster));
      const cpu = await measureCpuShare(total, () => delay(quick ? 3_000 : 30_000));
      return [
        {
          what: 'idle service with its database, resident',
          ours: formatMegabytes(await readSharedResidentBytes(all)),
          reference: `service ${formatMegabytes(await readSharedResidentBytes([service.pid]))}, database ${formatMegabytes(await readSharedResidentBytes(postgres))}`,
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
      ];
    }),
};
