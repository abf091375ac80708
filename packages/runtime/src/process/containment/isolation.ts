import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { type RuntimeLogger, RuntimeUnavailable } from '../../runtime.ts';
import { findSetpriv } from '../supervisor/supervisor.ts';
import { TRIAL_ID } from './accounts.ts';
import { type CgroupHost, openCgroupHost } from './cgroup-host.ts';
import type { ContainmentKind } from './containment.ts';

/** The containment that this machine and this process's privileges allow. */
export type Isolation = {
  readonly containment: ContainmentKind;
  readonly ownAccounts: boolean;
  readonly cgroups: CgroupHost | null;
};

/**
 * An account with no more rights than an instance has. The service uses it to check whether bots can reach programs and
 * directories.
 */
export const TRIAL_ACCOUNT = { uid: TRIAL_ID, gid: TRIAL_ID };

/**
 * Returns `requested`, or else the strongest containment that is possible. Separate accounts require root; control
 * groups require write access to this process's groups. Rejects with `RuntimeUnavailable` if the requested containment
 * is impossible.
 */
export async function chooseIsolation(
  dataDirectory: string,
  isRoot: boolean,
  requested: ContainmentKind | undefined,
): Promise<Isolation> {
  const ownAccounts = usesOwnAccounts(isRoot, requested);
  if (requested === 'uid' && !isRoot) throw new RuntimeUnavailable('Only root can give each instance its own account.');
  const name = `bothost-${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)}`;
  const cgroups = requested === undefined || requested === 'cgroup' ? await openCgroupHost(name) : null;
  if (requested === 'cgroup' && cgroups === null)
    throw new RuntimeUnavailable('This process may not create control groups on this machine.');
  const containment = cgroups !== null ? 'cgroup' : ownAccounts ? 'uid' : 'mark';
  return { containment, ownAccounts, cgroups };
}

/** A separate account for each instance requires root. The containment `mark` does without it. */
export function usesOwnAccounts(isRoot: boolean, requested: ContainmentKind | undefined): boolean {
  return isRoot && requested !== 'mark';
}

/** Bots can pass through the directory but cannot list it, regardless of the umask. */
export function makePassable(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o711);
}

/** Rejects with `RuntimeUnavailable` if bots with their own accounts cannot reach files below the directory. */
export function requirePassable(directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd: '/', env: {}, ...TRIAL_ACCOUNT };
    execFile('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], options, (error) => {
      if (error === null) resolve();
      else {
        reject(
          new RuntimeUnavailable(
            `Bots have their own accounts, and these cannot reach ${directory}. Let every account pass through it and its parent directories (mode 0711), or set BOTHOST_DATA_DIR to another directory.`,
          ),
        );
      }
    });
  });
}

/** Logs how the operator could isolate bots better. */
export function warnAboutSharedAccount(isolation: Isolation, logger: RuntimeLogger): void {
  if (!isolation.ownAccounts) {
    logger.warn(
      { containment: isolation.containment },
      'all bots share the account of the service and can read everything that it can read; run the service as root to give each bot its own account',
    );
  } else if (findSetpriv() === null) {
    logger.warn(
      {},
      'setpriv (util-linux) is missing: a setuid file that one bot leaves behind could give its account to another bot',
    );
  }
}
