import type { Database } from '../store/tables.ts';
import { createApiKey } from './keys.ts';
import { findOldestOrganizationRow, insertOrganization, lockFirstOrganizationCreation } from './rows.ts';

export type BootstrapOptions = {
  readonly organization: string;
  /** API keys to store. A missing key is generated. */
  readonly privateKey: string | null;
  readonly publicKey: string | null;
};

/** The new organization and its keys, or null if the database already has an organization. */
export type FirstOrganizationKeys = {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly privateKey: string;
  readonly publicKey: string;
};

/**
 * Creates the first organization and its two keys in one transaction. Does nothing if an organization exists. Several servers
 * may call this at once. Calls `keep`, which writes the keys to the CLI profile, before the commit, so that the keys cannot be
 * lost. If the server is killed between the write and the commit, the profile contains invalid keys until the next start
 * replaces them.
 */
export async function createOrganizationAtFirstStart(
  context: { db: Database; now: () => Date; newId: () => string },
  region: string,
  bootstrap: BootstrapOptions,
  keep: (keys: FirstOrganizationKeys) => Promise<void>,
): Promise<FirstOrganizationKeys | null> {
  return context.db.transaction().execute(async (db) => {
    if ((await findOldestOrganizationRow(db)) !== undefined) return null;
    await lockFirstOrganizationCreation(db);
    if ((await findOldestOrganizationRow(db)) !== undefined) return null;
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
      createApiKey(
        { ...context, db },
        { organizationId },
        { kind, name: 'first start', ...(key === null ? {} : { key }) },
      );
    const privateKey = await create('private', bootstrap.privateKey);
    const publicKey = await create('public', bootstrap.publicKey);
    const keys = { organizationId, organizationName: name, privateKey: privateKey.key, publicKey: publicKey.key };
    await keep(keys);
    return keys;
  });
}

/** Returns the oldest organization, which owns the agents that are served from directories. */
export async function findOldestOrganization(context: { db: Database }): Promise<{ id: string; name: string } | null> {
  const row = await findOldestOrganizationRow(context.db);
  return row === undefined ? null : { id: row.id, name: row.name };
}
