import { failure } from '@bothost/contract';
import type { Actor } from '../../audit/chain.ts';
import type { Database } from '../../store/tables.ts';
import { changeRootKey } from '../vault/rekey.ts';
import { currentRootKeyId, newState } from '../vault/vault-state.ts';
import type { UpkeepContext } from './context.ts';
import { findOrganization, organizationsWithKeys } from './rows.ts';
import { proveTask } from './task-proof.ts';
import { insertTask, type TaskRow } from './task-rows.ts';
import { tellOrganizations } from './upkeep-audit.ts';

type Context = UpkeepContext & { readonly newId: () => string; readonly by?: Actor };
type RootContext = Context & {
  /** The regions of all other servers of this database that are alive. */
  readonly otherRegions: (db: Database) => Promise<readonly string[]>;
};

/**
 * Goes over to another root key: to a new key file, or to the first one of the settings. From now on it wraps what is made,
 * and what was made before is wrapped anew by and by. Both stand in the database at once, or neither does. A new file would be in
 * the folder of this server alone, so none is made while other servers need it, too.
 *
 * @throws failure `vault-busy`, `root-key-not-given`, `root-key-not-shared`
 */
export async function rotateRootKey(context: RootContext): Promise<void> {
  const { rootKeys } = context;
  await context.db.transaction().execute(async (db) => {
    if (rootKeys.make !== null) requireAlone(await context.otherRegions(db));
    await startTask({ ...context, db }, 'rekey', null);
    // A key file that is left of a server that dies here is used by nothing.
    const next = rootKeys.make === null ? (await rootKeys.status()).keyIds[0] : await rootKeys.make();
    if (next === undefined || next === (await currentRootKeyId(db))) throw failure('root-key-not-given');
    await changeRootKey(db, await newState(rootKeys, next, context.now()));
    await tellStarted({ ...context, db }, 'rotate-root', null);
  });
}

function requireAlone(others: readonly string[]): void {
  if (others.length === 0) return;
  const message = `Servers of other regions share this database (${others.join(', ')}), and a new key file would be on this one only. Give every server the new key with BOTHOST_VAULT_KEYS, as docs/operations.md says, and try again. A stopped server still counts for one minute.`;
  throw failure('root-key-not-shared', { message });
}

/**
 * Makes new keys for one organization or for all: what is written from then on is sealed with them.
 *
 * @throws failure `vault-busy`, `organization-not-found`
 */
export async function rotateOrganizationKeys(context: Context, organization: string | null): Promise<void> {
  await start(context, 'rotate', organization);
}

/** Seals with the newest keys what former ones sealed. @throws failure `vault-busy` */
export async function startReencrypting(context: Context): Promise<void> {
  await start(context, 'reencrypt', null);
}

/** Opens all that is stored. @throws failure `vault-busy`, `organization-not-found` */
export async function startVerifying(context: Context, organization: string | null): Promise<void> {
  await start(context, 'verify', organization);
}

/** The task, and the entries that tell of it, at once or not at all. */
async function start(context: Context, task: TaskRow['task'], organization: string | null): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    const only = await organizationId(db, organization);
    await startTask({ ...context, db }, task, only);
    await tellStarted({ ...context, db }, task, only);
  });
}

async function tellStarted(context: Context, work: string, only: string | null): Promise<void> {
  const concerned = only === null ? (await organizationsWithKeys(context.db)).map(({ id }) => id) : [only];
  await tellOrganizations(context, concerned, { action: `vault.${work}`, result: 'started' });
}

async function organizationId(db: Database, nameOrId: string | null): Promise<string | null> {
  if (nameOrId === null) return null;
  const found = await findOrganization(db, nameOrId);
  if (found === undefined) throw failure('organization-not-found');
  return found.id;
}

async function startTask(context: Context, task: TaskRow['task'], organization: string | null): Promise<void> {
  const at = context.now();
  const row = {
    id: context.newId(),
    task,
    organization_id: organization,
    state: 'running' as const,
    done: 0,
    total: 0,
    findings: [],
    created_at: at,
    updated_at: at,
    ended_at: null,
  };
  const isNew = await insertTask(context.db, { ...row, findings: '[]', ...(await proveTask(context, row)) });
  if (!isNew) throw failure('vault-busy');
}
