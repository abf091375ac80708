import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { promisify } from 'node:util';

export type TmpDirectories = { readonly tmp: string; readonly varTmp: string };

type Account = { readonly uid: number; readonly gid: number };

/** The environment of programs that run as root. It contains no variable of a tenant, such as `LD_PRELOAD`. */
export const rootEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

const unsharePath = '/usr/bin/unshare';

/** Mounts `/var/tmp` before `/tmp`, because the directories to mount may be in `/tmp`, and the mount there hides them. */
const mountScript = `
mount --bind "$2" /var/tmp && mount --bind "$1" /tmp || exit 71
uid=$3 gid=$4
shift 4
exec setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all "$@"
`;

/**
 * Returns a command that root must run with `rootEnvironment`: mounts the directories in a new mount namespace,
 * switches to the account and executes `command`. Unmounts on the machine also apply in that namespace, so that a bot
 * keeps no file system busy.
 */
export function withPrivateTmp(
  { tmp, varTmp }: TmpDirectories,
  { uid, gid }: Account,
  command: readonly string[],
): readonly [string, ...string[]] {
  const mounts = ['/bin/sh', '-c', mountScript, 'bothost-tmp', tmp, varTmp, String(uid), String(gid)];
  return [unsharePath, '--mount', '--propagation', 'slave', ...mounts, ...command];
}

/**
 * Whether `withPrivateTmp` works here. Docker's default seccomp profile forbids it, and it would hide a data directory in
 * `/tmp` or `/var/tmp` from its own bots.
 */
export async function canMountPrivateTmp(dataDirectory: string, account: Account): Promise<boolean> {
  const real = `${realpathSync(dataDirectory)}/`;
  if (!existsSync(unsharePath) || real.startsWith('/tmp/') || real.startsWith('/var/tmp/')) return false;
  const command = withPrivateTmp({ tmp: dataDirectory, varTmp: dataDirectory }, account, ['/bin/true']);
  return succeeds(command, null);
}

/** Whether forks, without capabilities, can mount directories in a user namespace. Ubuntu forbids it by default. */
export function canUserMountPrivateTmp(dataDirectory: string, account: Account): Promise<boolean> {
  const namespaces = ['--user', '--map-root-user', '--mount', '--propagation', 'slave'];
  return succeeds([unsharePath, ...namespaces, '/bin/mount', '--rbind', dataDirectory, '/tmp'], account);
}

async function succeeds([program, ...parameters]: readonly [string, ...string[]], account: Account | null) {
  try {
    await promisify(execFile)(program, parameters, { cwd: '/', env: rootEnvironment, ...account });
    return true;
  } catch {
    return false;
  }
}
