import { userInfo } from 'node:os';
import { StoreError } from '../store-error.ts';

export type OsAccount = { readonly name: string; readonly uid: number; readonly gid: number };

/**
 * Names of the accounts under which root may run PostgreSQL, in order of preference. The first existing one is used.
 */
const preferred = ['postgres', 'nobody', 'daemon'];

/** Parses `/etc/passwd` (passwd(5)); skips invalid lines. */
export function parsePasswdFile(passwd: string): readonly OsAccount[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (name === undefined || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

/**
 * Returns the account of this process. The account needs an entry in `/etc/passwd`, because PostgreSQL looks up the accounts of
 * the server and of its clients there (peer authentication).
 *
 * @throws StoreError if there is no entry
 */
export function findCurrentOsAccount(): OsAccount {
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
 * Chooses the Unix account under which PostgreSQL runs. An existing database keeps its owner. A new database belongs to the
 * account of this process. If this process runs as root, which PostgreSQL refuses, a new database belongs to the first existing
 * account in `preferred`.
 *
 * @throws StoreError if none of these accounts exists, or if this process may not become the owner of the database
 */
export function choosePostgresOsAccount(
  own: OsAccount,
  accounts: readonly OsAccount[],
  clusterOwner: number | undefined,
): OsAccount {
  if (own.uid !== 0) {
    if (clusterOwner === undefined || clusterOwner === own.uid) return own;
    const owner = accounts.find((account) => account.uid === clusterOwner)?.name ?? `user id ${clusterOwner}`;
    throw new StoreError(
      `The database in the data directory belongs to ${owner}, and this process runs as ${own.name}. ` +
        `Start the service as ${owner}, or set BOTHOST_DATA_DIR to another directory.`,
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
      ? `PostgreSQL may not run as root, and none of the accounts ${preferred.join(', ')} exists. Start the service as an ordinary user, or set DATABASE_URL.`
      : `The database in the data directory belongs to user id ${clusterOwner}. Its owner must be an unprivileged account in /etc/passwd.`,
  );
}
