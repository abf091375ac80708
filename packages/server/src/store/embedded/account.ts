import { userInfo } from 'node:os';
import { StoreError } from '../store-error.ts';

/** An account of the machine, as `/etc/passwd` has it. */
export type Account = { readonly name: string; readonly uid: number; readonly gid: number };

/** Accounts that root may run PostgreSQL under, best first. None is ever created. */
const preferred = ['postgres', 'nobody', 'daemon'];

/** The lines of `/etc/passwd` (passwd(5)) that are accounts. */
export function parseAccounts(passwd: string): readonly Account[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

/** The account of this process. PostgreSQL needs a passwd entry, also for the one who connects (peer authentication). */
export function ownAccount(): Account {
  try {
    const { username, uid, gid } = userInfo();
    return { name: username, uid, gid };
  } catch {
    const uid = process.geteuid?.();
    throw new StoreError(
      `The embedded PostgreSQL needs an account: user id ${uid} has no entry in /etc/passwd. Add one, or set DATABASE_URL.`,
    );
  }
}

/**
 * Whom PostgreSQL runs as: the one that owns the existing database, so that an account installed later changes nothing;
 * else this process's own account; else, as PostgreSQL refuses root, an unprivileged one that exists.
 *
 * @throws StoreError when there is none, or when the database belongs to somebody that this process may not become
 */
export function chooseAccount(own: Account, accounts: readonly Account[], clusterOwner: number | undefined): Account {
  if (own.uid !== 0) {
    if (clusterOwner === undefined || clusterOwner === own.uid) return own;
    const owner = accounts.find((account) => account.uid === clusterOwner)?.name ?? `user id ${clusterOwner}`;
    throw new StoreError(
      `The database in the data directory belongs to ${owner}, and this process runs as ${own.name}. ` +
        'Start the service as before, or with another BOTHOST_DATA_DIR.',
    );
  }
  const candidates =
    clusterOwner === undefined
      ? preferred.flatMap((name) => accounts.filter((account) => account.name === name))
      : accounts.filter((account) => account.uid === clusterOwner);
  const account = candidates.find(({ uid }) => uid !== 0);
  if (account !== undefined) return account;
  throw new StoreError(
    clusterOwner === undefined
      ? `PostgreSQL may not run as root, and there is none of the accounts ${preferred.join(', ')}. Start the service as an ordinary user, or set DATABASE_URL.`
      : `The database in the data directory belongs to user id ${clusterOwner}, which is no unprivileged account of /etc/passwd.`,
  );
}
