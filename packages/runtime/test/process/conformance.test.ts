import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ContainmentKind } from '../../src/process/containment/containment.ts';
import { createProcessRuntime } from '../../src/process/process-runtime.ts';
import { describeRuntime } from '../conformance/conformance.ts';
import { writeStandInShim } from '../conformance/stand-in-shim.ts';
import { openProbe } from './probe.ts';

const isRoot = process.geteuid?.() === 0;
const PATH = '/usr/bin:/bin';
const kinds: readonly ContainmentKind[] = isRoot ? ['cgroup', 'uid', 'mark'] : ['mark'];

/** What `python3 -m venv` needs; a machine without it passes all the same. */
const lacksPython = (() => {
  try {
    execFileSync('python3', ['-c', 'import ensurepip, sys; assert sys.version_info >= (3, 11)'], {
      stdio: 'ignore',
      env: { PATH },
    });
    return null;
  } catch {
    return 'there is no Python 3.11 with venv here';
  }
})();

for (const kind of kinds) {
  describeRuntime(`process runtime, instances known by ${kind}`, {
    open: async (dataDirectory) =>
      createProcessRuntime({
        dataDirectory,
        logger: pino({ level: 'silent' }),
        now: () => new Date(),
        path: PATH,
        containment: kind,
        shimPackage: await writeStandInShim(join(dataDirectory, '../stand-in-shim')),
        outputLimitBytes: 1024 * 1024,
        roundMilliseconds: 200,
      }),
    probe: openProbe,
    isolatesAccounts: kind !== 'mark',
    enforcesLimits: kind === 'cgroup',
    lacksPython,
  });
}
