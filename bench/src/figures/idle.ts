import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, megabytes, percentOfCore } from '../figure.ts';
import { cpuSeconds, cpuShare, familyCpuSeconds, familyOf, sharedResidentBytes } from '../process-usage.ts';
import { withService } from '../service.ts';

/** The idle service with its database. */
export const idle: Bench = {
  name: 'idle',
  run: async ({ quick }) =>
    withService({ agents: [] }, async (service) => {
      const postgres = await familyOf(service.postmaster);
      const all = [service.pid, ...postgres];
      const total = async () => (await cpuSeconds(service.pid)) + (await familyCpuSeconds(service.postmaster));
      const cpu = await cpuShare(total, () => delay(quick ? 3_000 : 30_000));
      return [
        {
          what: 'idle service with its database, resident',
          ours: megabytes(await sharedResidentBytes(all)),
          reference: `service ${megabytes(await sharedResidentBytes([service.pid]))}, database ${megabytes(await sharedResidentBytes(postgres))}`,
          ratio: null,
          limit: null,
        },
        {
          what: 'idle service with its database, CPU',
          ours: percentOfCore(cpu),
          reference: '',
          ratio: null,
          limit: null,
        },
      ];
    }),
};
