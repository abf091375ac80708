import { pino } from 'pino';
import { describeRuntime } from '../conformance/conformance.ts';
import type { ContainmentKind } from './containment.ts';
import { hasEnded, readProcessStat } from './process-identity.ts';
import { createProcessRuntime } from './process-runtime.ts';

const isRoot = process.geteuid?.() === 0;
const kinds: readonly ContainmentKind[] = isRoot ? ['cgroup', 'uid', 'mark'] : ['mark'];

for (const kind of kinds) {
  describeRuntime(`process runtime, instances known by ${kind}`, {
    open: (dataDirectory) =>
      createProcessRuntime({
        dataDirectory,
        logger: pino({ level: 'silent' }),
        now: () => new Date(),
        path: '/usr/bin:/bin',
        containment: kind,
        outputLimitBytes: 1024 * 1024,
        roundMilliseconds: 200,
      }),
    isAlive: (pid) => {
      const stat = readProcessStat(pid);
      return stat !== null && !hasEnded(stat);
    },
    isolatesAccounts: kind !== 'mark',
    enforcesLimits: kind === 'cgroup',
  });
}
