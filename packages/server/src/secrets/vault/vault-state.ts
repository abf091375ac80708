import type { Insertable } from 'kysely';
import type { Database, VaultStateTable } from '../../store/tables.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import { encodeValueList, toEpochMilliseconds } from './encode.ts';
import { findVaultState } from './key-rows.ts';
import { RootKeyMissingError, type RootKeyProvider } from './root-key.ts';

/** A known text that is wrapped with the current root key, so that the server detects a wrong root key at startup. */
const canary = Buffer.from('This opens with the right key.  ');

function canaryContext({ created_at: createdAt }: { readonly created_at: Date }): Buffer {
  return encodeValueList(['canary', toEpochMilliseconds(createdAt)]);
}

export async function createVaultStateRow(
  rootKeys: RootKeyProvider,
  keyId: string,
  createdAt: Date,
): Promise<Insertable<VaultStateTable>> {
  const state = { root_key_id: keyId, created_at: createdAt };
  return { ...state, canary: await rootKeys.wrap(canary, keyId, canaryContext(state)) };
}

/** Makes another root key the current one. Every server wraps new keys with it from then on. */
export async function replaceVaultState(db: Database, state: Insertable<VaultStateTable>): Promise<void> {
  await db.updateTable('vault_state').set(state).execute();
}

/** Returns why this server cannot decrypt the stored secrets, as a message for the operator. Returns null if it can. */
export async function findVaultProblem(context: {
  readonly db: Database;
  readonly rootKeys: RootKeyProvider;
}): Promise<string | null> {
  const { db, rootKeys } = context;
  const state = await findVaultState(db);
  if (state === undefined) return 'the row of vault_state that names the root key is missing';
  if (!(await rootKeys.status()).ok) return 'the provider of the root keys does not respond';
  try {
    if ((await rootKeys.unwrap(state.canary, state.root_key_id, canaryContext(state))).equals(canary)) return null;
  } catch (error) {
    if (!(error instanceof DamagedDataError || error instanceof RootKeyMissingError)) throw error;
  }
  return `the root key ${state.root_key_id} does not decrypt what was encrypted with it`;
}

/**
 * Returns the id of the root key that wraps new keys.
 *
 * @throws DamagedDataError if the table `vault_state` has no row
 */
export async function readRootKeyId(db: Database): Promise<string> {
  const state = await findVaultState(db);
  if (state === undefined) throw new DamagedDataError('the row of vault_state is missing');
  return state.root_key_id;
}
