import { OperatorError } from '../../operator-error.ts';
import type { Database } from '../../store/tables.ts';
import { findKeyFile, makeKeyFile, readKeyFiles } from './key-files.ts';
import { deleteUnusedState, findState, insertState, rootKeyIdsInUse } from './key-rows.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import { localRootKeys, type RootKeyProvider, rootKeyId } from './root-key.ts';
import { isAnythingSealed } from './sealed-with.ts';
import { newState, vaultProblem } from './vault-state.ts';

/**
 * Where root keys come from: the operator's own, the one to wrap with first, and files of the service's own. The service
 * makes files only where the operator gives none.
 */
export type RootKeySource = { readonly keys?: readonly Buffer[]; readonly folder?: string };

export type Vault = { readonly keyring: Keyring; readonly rootKeys: RootKeyProvider };

/** The service must not start: what is stored could not be opened, or a second root key would come to be. */
class VaultError extends OperatorError {
  override readonly name = 'VaultError';
}

/** What to do at a start, from what is at hand and what is stored (secrets 8.2, key table). */
export type Opening =
  | { readonly kind: 'create' }
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'use'; readonly keyId: string };

/**
 * `wraps`: the root key of the stored state, null where there is none. `needed`: all without which something does not open,
 * as far as the keys of organizations say. `sealed`: there are secrets, whether or not these keys are still there.
 */
export function planOpening(
  atHand: readonly string[],
  stored: { readonly wraps: string | null; readonly needed: readonly string[]; readonly sealed: boolean },
): Opening {
  const missing = stored.needed.filter((id) => !atHand.includes(id));
  if (missing.length > 0) {
    const have = atHand.length === 0 ? 'none is available' : `available: ${atHand.join(', ')}`;
    return {
      kind: 'refuse',
      message: `Secrets are sealed with the root key ${missing.join(', ')}, and ${have}. Put that key back; another one is never made in its place.`,
    };
  }
  if (stored.wraps !== null) return { kind: 'use', keyId: stored.wraps };
  const [first] = atHand;
  if (first !== undefined) return { kind: 'use', keyId: first };
  if (!stored.sealed) return { kind: 'create' };
  return {
    kind: 'refuse',
    message:
      'Secrets are stored, but the tables vault_state and vault_keys are empty and no root key is available. Restore the whole database and the key files of that time; a new root key is never made while secrets are stored.',
  };
}

/**
 * Opens the vault, and makes the first root key where nothing was ever sealed. A root key that is lost before any secret
 * was written is no loss: unless another server of this database may still have it, the next one takes its place.
 *
 * @throws VaultError, KeyFileError
 */
export async function openVault(
  context: { readonly db: Database; readonly now: () => Date; readonly isAlone: boolean },
  source: RootKeySource,
): Promise<Vault> {
  const { db, now } = context;
  const { keys: given = [], folder = null } = source;
  const files = folder === null ? [] : await readKeyFiles(folder);
  const atHand = [...given, ...files].map(rootKeyId);
  const before = (await findState(db))?.root_key_id ?? null;
  if (before !== null && !atHand.includes(before) && context.isAlone) await deleteUnusedState(db);
  const stored = {
    wraps: (await findState(db))?.root_key_id ?? null,
    needed: await rootKeyIdsInUse(db),
    sealed: await isAnythingSealed(db),
  };
  const opening = planOpening(atHand, stored);
  if (opening.kind === 'refuse') {
    const place = folder === null ? '' : ` Key files belong in ${folder}, each named by the id of its key.`;
    throw new VaultError(`${opening.message}${place}`);
  }
  const first = opening.kind === 'create' && folder !== null ? await makeKeyFile(folder) : undefined;
  const later =
    folder === null
      ? null
      : {
          find: (id: string) => findKeyFile(folder, id),
          // Who gives keys by the settings makes the next one, too.
          make: given.length > 0 ? null : () => makeKeyFile(folder),
        };
  const rootKeys = localRootKeys([...given, ...files, ...(first === undefined ? [] : [first])], later);
  const keyId = opening.kind === 'use' ? opening.keyId : first === undefined ? null : rootKeyId(first);
  if (keyId === null) throw new VaultError('There is no root key.');
  await insertState(db, await newState(rootKeys, keyId, now()));
  const state = await findState(db);
  if (state?.root_key_id !== keyId) {
    throw new VaultError(
      `Secrets are sealed with the root key ${state?.root_key_id}, and this server has ${keyId}. Servers of one database share it.`,
    );
  }
  const problem = await vaultProblem({ db, rootKeys });
  if (problem !== null) throw new VaultError(problem);
  return { keyring: createKeyring({ rootKeys, now }), rootKeys };
}
