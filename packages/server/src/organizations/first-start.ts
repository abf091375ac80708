import type { Database } from '../store/tables.ts';
import { createKey } from './keys.ts';
import { anyOrganization, insertOrganization, lockFirstOrganization } from './rows.ts';

export type Bootstrap = {
  readonly organization: string;
  /** Generated if absent. */
  readonly privateKey: string | null;
  readonly publicKey: string | null;
};

/** What the first start created; null if the database has an organization already. */
export type FirstStart = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly privateKey: string;
  readonly publicKey: string;
};

/**
 * Creates the organization and its two keys in one transaction if there is none yet, also when servers of several regions
 * start at once. Calls `keep` with the keys before the commit: after a kill in between, the written profile has invalid keys,
 * which the next start replaces. The reverse, valid keys that are stored in no profile, cannot happen.
 */
export async function firstStart(
  context: { db: Database; now: () => Date; newId: () => string },
  region: string,
  bootstrap: Bootstrap,
  keep: (made: FirstStart) => Promise<void>,
): Promise<FirstStart | null> {
  return context.db.transaction().execute(async (db) => {
    if ((await anyOrganization(db)) !== undefined) return null;
    await lockFirstOrganization(db);
    if ((await anyOrganization(db)) !== undefined) return null;
    const organizationId = context.newId();
    const name = bootstrap.organization;
    await insertOrganization(db, {
      id: organizationId,
      name,
      verbose_name: name,
      default_region: region,
      created_at: context.now(),
    });
    const create = (kind: 'private' | 'public', key: string | null) =>
      createKey(
        { ...context, db },
        { organizationId },
        { kind, name: 'first start', ...(key === null ? {} : { key }) },
      );
    const privateKey = await create('private', bootstrap.privateKey);
    const publicKey = await create('public', bootstrap.publicKey);
    const made = { organizationId, organizationName: name, privateKey: privateKey.key, publicKey: publicKey.key };
    await keep(made);
    return made;
  });
}

/** The organization of agents from directories: the oldest one. */
export async function homeOrganization(context: { db: Database }): Promise<{ id: string; name: string } | null> {
  const row = await anyOrganization(context.db);
  return row === undefined ? null : { id: row.id, name: row.name };
}
