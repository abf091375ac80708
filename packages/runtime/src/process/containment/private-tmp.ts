import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { promisify } from 'node:util';

export type TmpDirectories = { readonly tmp: string; readonly varTmp: string };

type Account = { readonly uid: number; readonly gid: number };

/** The environment of programs that run as root. It contains no variable of a tenant, such as `LD_PRELOAD`. */
export const rootProcessEnvironmentVariables = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

const unsharePath = '/usr/bin/unshare';

/** Mounts on `/var/tmp` first, because the directories to mount may be in `/tmp`, and the mount on `/tmp` hides them. */
const mountScript = `
mount --bind "$2" /var/tmp && mount --bind "$1" /tmp || exit 71
uid=$3 gid=$4
shift 4
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all "$@"
`;

/**
 * Returns a command that root must run with the environment `rootProcessEnvironmentVariables`. The command creates a mount
 * namespace, mounts `tmp` as `/tmp` and `varTmp` as `/var/tmp` in it, and executes `command` with the user and group ids of
 * the account. If a file system is unmounted on the machine, it is also unmounted in the namespace, so a running bot does not
 * keep it busy.
 */
export function wrapWithPrivateTmp(
  { tmp, varTmp }: TmpDirectories,
  { uid, gid }: Account,
  command: readonly string[],
): readonly [string, ...string[]] {
  const mounts = ['/bin/sh', '-c', mountScript, 'bothost-tmp', tmp, varTmp, String(uid), String(gid)];
  return [unsharePath, '--mount', '--propagation', 'slave', ...mounts, ...command];
}

/**
 * Whether `wrapWithPrivateTmp` works on this machine. Docker's default seccomp profile forbids the mounts. The data directory
 * must be outside `/tmp` and `/var/tmp`, because the mounts would hide it from the bots.
 */
export async function canMountPrivateTmp(dataDirectory: string, account: Account): Promise<boolean> {
  const real = `${realpathSync(dataDirectory)}/`;
  if (!existsSync(unsharePath) || real.startsWith('/tmp/') || real.startsWith('/var/tmp/')) return false;
  const command = wrapWithPrivateTmp({ tmp: dataDirectory, varTmp: dataDirectory }, account, ['/bin/true']);
  return succeeds(command, null);
}

/** Whether forked bots, which have no capabilities, can mount directories in a user namespace. Ubuntu forbids it by default. */
export function canUserMountPrivateTmp(dataDirectory: string, account: Account): Promise<boolean> {
  const namespaces = ['--user', '--map-root-user', '--mount', '--propagation', 'slave'];
  return succeeds([unsharePath, ...namespaces, '/bin/mount', '--rbind', dataDirectory, '/tmp'], account);
}

async function succeeds([program, ...parameters]: readonly [string, ...string[]], account: Account | null) {
  try {
    await promisify(execFile)(program, parameters, { cwd: '/', env: rootProcessEnvironmentVariables, ...account });
    return true;
  } catch {
    return false;
  }
}
