import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { ProcessRuntimeOptions } from '../../src/process/options.ts';
import type { ContainmentKind } from '../../src/process/records/contained-processes.ts';
import { makeDirectoryBot, type SourceRuntimeSetup } from '../conformance/fixture.ts';
import { writeStandInShim } from '../conformance/stand-in-shim.ts';
import { openProcessRuntime } from './open-process-runtime.ts';
import { createInstanceProcessProbe } from './probe.ts';

const defaultPath = '/usr/bin:/bin';
/** Suites that run Python bots install uv (`uv.setup.ts`). */
const uvFolder = inject('uvFolder') ?? '';

/**
 * Methods by which the process driver recognizes the processes of an instance, most reliable first. Control groups and separate
 * accounts need root, so without root only the environment marker is listed.
 */
export const availableContainmentKinds: readonly [ContainmentKind, ...ContainmentKind[]] =
  process.geteuid?.() === 0 ? ['cgroup', 'uid', 'mark'] : ['mark'];

/** Returns the process driver's setup for the conformance suite. `options` override those of the suite. */
export function createProcessRuntimeSetup(
  kind: ContainmentKind,
  options: Partial<ProcessRuntimeOptions> = {},
): SourceRuntimeSetup {
  return {
    open: async (dataDirectory) =>
      openProcessRuntime({
        dataDirectory,
        path: uvFolder === '' ? defaultPath : `${uvFolder}:${defaultPath}`,
        containment: kind,
        shimPackage: await writeStandInShim(join(dataDirectory, '../stand-in-shim')),
        outputLimitBytes: 1024 * 1024,
        pollMs: 200,
        ...options,
      }),
    makeBot: makeDirectoryBot,
    probe: createInstanceProcessProbe,
    timesUnattendedOutput: false,
    isolatesAccounts: kind !== 'mark',
    enforcesLimits: kind === 'cgroup',
    lacksPython: whyPythonIsMissing(),
  };
}

/** Returns what `python3 -m venv` lacks on this machine, or null if it works. */
function whyPythonIsMissing(): string | null {
  try {
    execFileSync('python3', ['-c', 'import ensurepip, sys; assert sys.version_info >= (3, 11)'], {
      stdio: 'ignore',
      env: { PATH: defaultPath },
    });
    return null;
  } catch {
    return 'this machine has no Python 3.11 with venv';
  }
}
