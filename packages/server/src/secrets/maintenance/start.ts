import { type AuditAction, createApiError } from '@bothost/contract';
import { appendAuditToEach } from '../../audit/append.ts';
import { type Actor, organizationEventFields } from '../../audit/chain.ts';
import type { Database } from '../../store/tables.ts';
import { createVaultStateRow, readRootKeyId, replaceVaultState } from '../vault/vault-state.ts';
import type { MaintenanceContext } from './context.ts';
import { findOrganization, listOrganizationsWithVaultData } from './organizations.ts';
import { insertTask, type TaskRow } from './task-rows.ts';

/** `by` is the operator who requested the work, for the audit log. It contains no key id, because operators have no API key. */
type Context = MaintenanceContext & { readonly newId: () => string; readonly by?: Actor };
type RootContext = Context & {
  readonly otherRegions: (db: Database) => Promise<readonly string[]>;
};

/**
 * Makes another root key current: a new key file, or the first key in the settings. The same transaction stores the task that
 * rewraps existing organization keys. Refuses to create a key file while other servers are alive, because only this server would
 * have the file.
 *
 * @throws failure `vault-busy`, `root-key-not-given`, `root-key-not-shared`
 */
export async function rotateRootKey(context: RootContext): Promise<void> {
  const { rootKeys } = context;
  await context.db.transaction().execute(async (db) => {
    if (rootKeys.create !== null) requireAlone(await context.otherRegions(db));
    await storeTask({ ...context, db }, 'rekey', null);
    // If the server is killed before the transaction is committed, the new key file remains unused.
    const next = rootKeys.create === null ? (await rootKeys.status()).keyIds[0] : await rootKeys.create();
    if (next === undefined || next === (await readRootKeyId(db))) throw createApiError('root-key-not-given');
    await replaceVaultState(db, await createVaultStateRow(rootKeys, next, context.now()));
    await auditOrganizations({ ...context, db }, await organizationIds(db, null), 'vault.rotate-root');
  });
}

function requireAlone(others: readonly string[]): void {
  if (others.length === 0) return;
  const message = `Servers of other regions share this database (${others.join(', ')}), and only this server would have the new key file. Give every server the new key with BOTHOST_VAULT_KEYS, as docs/operations/vault-and-audit.md describes, and try again. A stopped server still counts for one minute.`;
  throw createApiError('root-key-not-shared', { message });
}

/**
 * Creates new keys for one or all organizations. The same transaction stores the task that re-encrypts their secret sets. A dry
 * run creates no keys, and its task only verifies.
 *
 * @throws failure `vault-busy`, `organization-not-found`
 */
export async function rotateOrganizationKeys(
  context: Context,
  organization: string | null,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    const only = await organizationId(db, organization);
    await storeTask({ ...context, db }, isDryRun ? 'verify' : 'rotate', only);
    const ids = await organizationIds(db, only);
    if (!isDryRun) for (const id of ids) await context.keyring.rotate(db, id);
    await auditOrganizations({ ...context, db }, ids, isDryRun ? 'vault.verify' : 'vault.rotate');
  });
}

async function organizationIds(db: Database, only: string | null): Promise<readonly string[]> {
  return only === null ? (await listOrganizationsWithVaultData(db)).map(({ id }) => id) : [only];
}

async function organizationId(db: Database, nameOrId: string | null): Promise<string | null> {
  if (nameOrId === null) return null;
  const found = await findOrganization(db, nameOrId);
  if (found === undefined) throw createApiError('organization-not-found');
  return found.id;
}

async function storeTask(context: Context, task: TaskRow['task'], organization: string | null): Promise<void> {
  const at = context.now();
  const isNew = await insertTask(context.db, {
    id: context.newId(),
    task,
    organization_id: organization,
    state: 'running',
    done: 0,
    total: 0,
    findings: '[]',
    created_at: at,
    updated_at: at,
    ended_at: null,
  });
  if (!isNew) throw createApiError('vault-busy');
}

/** Records in the audit log of each organization that the operator started work on its keys or secrets. */
async function auditOrganizations(
  { db, now, by = { keyId: null } }: Context,
  organizationIds: Iterable<string>,
  action: AuditAction,
): Promise<void> {
  const event = { ...organizationEventFields, action, result: 'started', at: now(), actor: by };
  await appendAuditToEach(db, organizationIds, event);
}
