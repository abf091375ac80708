import type { Insertable } from 'kysely';
import type { Database, VaultStateTable } from '../../store/tables.ts';
import { DamagedError } from './damaged.ts';
import { encode, milliseconds } from './encode.ts';
import { findState } from './key-rows.ts';
import { RootKeyMissing, type RootKeyProvider } from './root-key.ts';

/** Something known, sealed with the root key that wraps now: who opens it has the right one. */
const canary = Buffer.from('This opens with the right key.  ');

/** All that the row says: it opens with nothing else. */
function canaryContext(state: { readonly created_at: Date; readonly pins_stamped: boolean }): Buffer {
  return encode(['canary', milliseconds(state.created_at), ...(state.pins_stamped ? ['pins stamped'] : [])]);
}

/** The row that says from now on which root key wraps, and that all pins of deployments are stamped. */
export async function newState(
  rootKeys: RootKeyProvider,
  keyId: string,
  createdAt: Date,
): Promise<Insertable<VaultStateTable>> {
  const state = { root_key_id: keyId, created_at: createdAt, pins_stamped: true };
  return { ...state, canary: await rootKeys.wrap(canary, keyId, canaryContext(state)) };
}

/** Null: what is sealed can be opened here. Otherwise why not, for the operator. */
export async function vaultProblem(context: {
  readonly db: Database;
  readonly rootKeys: RootKeyProvider;
}): Promise<string | null> {
  const { db, rootKeys } = context;
  const state = await findState(db);
  if (state === undefined) return 'the row of the vault that names its root key is missing';
  if (!(await rootKeys.status()).ok) return 'the keeper of the root keys does not answer';
  const { root_key_id: keyId, canary: sealed } = state;
  try {
    if ((await rootKeys.unwrap(sealed, keyId, canaryContext(state))).equals(canary)) return null;
  } catch (error) {
    if (!(error instanceof DamagedError || error instanceof RootKeyMissing)) throw error;
  }
  return `the root key ${keyId} does not open what was sealed with it`;
}

/** The root key that wraps now. @throws DamagedError when the row that says so is missing */
export async function currentRootKeyId(db: Database): Promise<string> {
  const state = await findState(db);
  if (state === undefined) throw new DamagedError('the state of the vault is missing');
  return state.root_key_id;
}
