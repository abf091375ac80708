import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { type RuntimeLogger, RuntimeUnavailableError } from '../../runtime.ts';
import type { ContainmentKind } from '../records/contained-processes.ts';
import { unixAccountIdForAccessChecks } from './accounts.ts';
import { findParentCgroups, type ParentCgroups } from './cgroup-host.ts';
import { findSetpriv } from './no-new-privileges.ts';
import { canMountPrivateTmp, canUserMountPrivateTmp } from './private-tmp.ts';

export type IsolationSettings = {
  readonly containment: ContainmentKind;
  readonly ownAccounts: boolean;
  readonly cgroups: ParentCgroups | null;
  /** Whether spawned bots get their own `/tmp` and `/var/tmp`. */
  readonly privateTmp: boolean;
  /** Whether forked bots get their own `/tmp` and `/var/tmp`. */
  readonly privateTmpOfForks: boolean;
};

/** An account with the permissions of an instance, for checking which programs and directories bots can access. */
export const unixAccountForAccessChecks = { uid: unixAccountIdForAccessChecks, gid: unixAccountIdForAccessChecks };

/**
 * Chooses how instances are contained: as `requested`, or by default the strongest way that this machine allows. Separate
 * accounts require root. Control groups require write access to this process's control groups. Rejects with
 * `RuntimeUnavailableError` if `requested` is impossible.
 */
export async function chooseIsolation(
  dataDirectory: string,
  isRoot: boolean,
  requested: ContainmentKind | undefined,
): Promise<IsolationSettings> {
  const ownAccounts = usesUnixAccountPerBot(isRoot, requested);
  if (requested === 'uid' && !isRoot)
    throw new RuntimeUnavailableError('Only root can give each instance its own account.');
  const name = `bothost-${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)}`;
  const cgroups = requested === undefined || requested === 'cgroup' ? await findParentCgroups(name) : null;
  if (requested === 'cgroup' && cgroups === null)
    throw new RuntimeUnavailableError('The service has no permission to create control groups on this machine.');
  const containment = cgroups !== null ? 'cgroup' : ownAccounts ? 'uid' : 'mark';
  const privateTmp = ownAccounts && (await canMountPrivateTmp(dataDirectory, unixAccountForAccessChecks));
  const privateTmpOfForks = privateTmp && (await canUserMountPrivateTmp(dataDirectory, unixAccountForAccessChecks));
  return { containment, ownAccounts, cgroups, privateTmp, privateTmpOfForks };
}

/** Whether each bot gets its own user account, which needs root. With `mark`, bots share the account of the service. */
export function usesUnixAccountPerBot(isRoot: boolean, requested: ContainmentKind | undefined): boolean {
  return isRoot && requested !== 'mark';
}

/** Creates a directory that bots can pass through but not list, regardless of the umask. */
export function createTraversableDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o711);
}

/** Rejects with `RuntimeUnavailableError` if bots with their own accounts cannot reach files below the directory. */
export function requireTraversableDirectory(directory: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd: '/', env: {}, ...unixAccountForAccessChecks };
    execFile('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], options, (error) => {
      if (error === null) resolve();
      else {
        reject(
          new RuntimeUnavailableError(
            `Bots run under their own accounts, which cannot access ${directory}. Set mode 0711 on this directory and its parent directories, or set BOTHOST_DATA_DIR to another directory.`,
          ),
        );
      }
    });
  });
}

export function warnAboutWeakIsolation(isolation: IsolationSettings, logger: RuntimeLogger): void {
  if (!isolation.ownAccounts) {
    logger.warn(
      { containment: isolation.containment },
      'all bots share the account of the service and can read everything that it can read; run the service as root to give each bot its own account',
    );
  } else if (findSetpriv() === null) {
    logger.warn(
      {},
      'setpriv is missing, so bots can run setuid files of other bots and thereby use their accounts; install util-linux',
    );
  }
  const { ownAccounts, privateTmp, privateTmpOfForks } = isolation;
  if (ownAccounts && !privateTmpOfForks) {
    const which = privateTmp ? 'forked bots' : 'bots';
    logger.info(
      {},
      `${which} have no private /tmp: this machine refuses mount namespaces, or the data directory is in /tmp`,
    );
  }
}
