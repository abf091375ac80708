import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { type RuntimeLogger, RuntimeUnavailable } from '../../runtime.ts';
import { findSetpriv } from '../supervisor/supervisor.ts';
import { TRIAL_ID } from './accounts.ts';
import { type CgroupHost, openCgroupHost } from './cgroup-host.ts';
import type { ContainmentKind } from './containment.ts';

/** What this machine and this process' rights allow. */
export type Isolation = {
  readonly containment: ContainmentKind;
  readonly ownAccounts: boolean;
  readonly cgroups: CgroupHost | null;
};

/** An account to try things as: as little as any instance may have. */
export const TRIAL_ACCOUNT = { uid: TRIAL_ID, gid: TRIAL_ID };

/**
 * The best that is possible, or what `wanted` names. Accounts of their own need root; control groups need write access to
 * this process' groups. Rejects with `RuntimeUnavailable` when what was asked for is impossible.
 */
export async function chooseIsolation(
  dataDirectory: string,
  isRoot: boolean,
  wanted: ContainmentKind | undefined,
): Promise<Isolation> {
  const ownAccounts = usesOwnAccounts(isRoot, wanted);
  if (wanted === 'uid' && !isRoot)
    throw new RuntimeUnavailable('Only root can give each instance an account of its own.');
  const name = `bothost-${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)}`;
  const cgroups = wanted === undefined || wanted === 'cgroup' ? await openCgroupHost(name) : null;
  if (wanted === 'cgroup' && cgroups === null)
    throw new RuntimeUnavailable('This process may not make control groups here.');
  const containment = cgroups !== null ? 'cgroup' : ownAccounts ? 'uid' : 'mark';
  return { containment, ownAccounts, cgroups };
}

/** Accounts of their own need root; the mark is for where there are none. */
export function usesOwnAccounts(isRoot: boolean, wanted: ContainmentKind | undefined): boolean {
  return isRoot && wanted !== 'mark';
}

/** Bots pass through it but cannot list it, whatever the umask says. */
export function makePassable(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o711);
}

/** Rejects with `RuntimeUnavailable` when bots, under accounts of their own, could not get to what lies below the directory. */
export function requirePassable(directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd: '/', env: {}, ...TRIAL_ACCOUNT };
    execFile('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], options, (error) => {
      if (error === null) resolve();
      else {
        reject(
          new RuntimeUnavailable(
            `Bots run under accounts of their own, and those cannot get to ${directory}: let every account pass through it and the directories above it (mode 0711), or set BOTHOST_DATA_DIR to another place.`,
          ),
        );
      }
    });
  });
}

/** What an operator could do so that bots are further apart. */
export function warnOfAccounts(isolation: Isolation, logger: RuntimeLogger): void {
  if (!isolation.ownAccounts) {
    logger.warn(
      { containment: isolation.containment },
      'all bots share the account of the service: each can read what the service and the other bots can; run the service as root to give each an account of its own',
    );
  } else if (findSetpriv() === null) {
    logger.warn(
      {},
      'this machine has no setpriv (util-linux): a setuid file that one bot leaves behind could lend its account to another',
    );
  }
}
