import { OperatorError } from '../../operator-error.ts';
import type { Database } from '../../store/tables.ts';
import { createKeyFile, findKeyFile, readKeyFiles } from './key-files.ts';
import {
  deleteUnusedVaultState,
  findVaultState,
  hasStoredSecrets,
  insertVaultState,
  listRootKeyIds,
} from './key-rows.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import { computeRootKeyId, createLocalRootKeys, type RootKeyProvider } from './root-key.ts';
import { createVaultStateRow, findVaultProblem } from './vault-state.ts';

/** `keys` are the operator's, the preferred one first. Without them, the service creates files in `folder`. */
export type RootKeySource = { readonly keys?: readonly Buffer[]; readonly folder?: string };

export type Vault = { readonly keyring: Keyring; readonly rootKeys: RootKeyProvider };

/** Thrown if the service must not start, because it could not decrypt the stored secrets or would create a second root key. */
class VaultError extends OperatorError {
  override readonly name = 'VaultError';
}

export type VaultOpeningPlan =
  | { readonly kind: 'create' }
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'use'; readonly keyId: string };

/**
 * Decides whether the server uses an available root key, creates the first one, or refuses to start. `current` is the id of the
 * root key that the database names, or null. `needed` are the ids of the root keys that wrap stored keys. `hasStoredSecrets` is
 * true if secrets are stored, even if their keys are missing.
 */
export function planVaultOpening(
  available: readonly string[],
  stored: { readonly current: string | null; readonly needed: readonly string[]; readonly hasStoredSecrets: boolean },
): VaultOpeningPlan {
  const missing = stored.needed.filter((id) => !available.includes(id));
  if (missing.length > 0) {
    const availableKeys =
      available.length === 0 ? 'no root key is available' : `only ${available.join(', ')} is available`;
    return {
      kind: 'refuse',
      message: `Secrets are encrypted with the root key ${missing.join(', ')}, but ${availableKeys}. Put that key back; the service never creates another one in its place.`,
    };
  }
  if (stored.current !== null) return { kind: 'use', keyId: stored.current };
  const [first] = available;
  if (first !== undefined) return { kind: 'use', keyId: first };
  if (!stored.hasStoredSecrets) return { kind: 'create' };
  return {
    kind: 'refuse',
    message:
      'Secrets are stored, but the tables vault_state and vault_keys are empty and no root key is available. Restore these tables and the key files from the same backup; the service creates no new root key while secrets are stored.',
  };
}

/**
 * Opens the vault, and creates the first root key if no secret was ever stored. Replaces a root key that was lost before the
 * first secret, unless another server of this database may still have the key.
 *
 * @throws VaultError, KeyFileError
 */
export async function openVault(
  context: { readonly db: Database; readonly now: () => Date; readonly isAlone: boolean },
  source: RootKeySource,
): Promise<Vault> {
  const { db, now } = context;
  const { keys: configuredKeys = [], folder = null } = source;
  const files = folder === null ? [] : await readKeyFiles(folder);
  const available = [...configuredKeys, ...files].map(computeRootKeyId);
  const before = (await findVaultState(db))?.root_key_id ?? null;
  if (before !== null && !available.includes(before) && context.isAlone) await deleteUnusedVaultState(db);
  const opening = planVaultOpening(available, {
    current: (await findVaultState(db))?.root_key_id ?? null,
    needed: await listRootKeyIds(db),
    hasStoredSecrets: await hasStoredSecrets(db),
  });
  if (opening.kind === 'refuse') {
    const place = folder === null ? '' : ` Key files belong in ${folder}; the name of each is the id of its key.`;
    throw new VaultError(`${opening.message}${place}`);
  }
  const first = opening.kind === 'create' && folder !== null ? await createKeyFile(folder) : undefined;
  const later =
    folder === null
      ? null
      : {
          find: (id: string) => findKeyFile(folder, id),
          create: configuredKeys.length > 0 ? null : () => createKeyFile(folder),
        };
  const rootKeys = createLocalRootKeys([...configuredKeys, ...files, ...(first === undefined ? [] : [first])], later);
  const keyId = opening.kind === 'use' ? opening.keyId : first === undefined ? null : computeRootKeyId(first);
  if (keyId === null) throw new VaultError('The service has no root key. Set BOTHOST_VAULT_KEYS.');
  await insertVaultState(db, await createVaultStateRow(rootKeys, keyId, now()));
  const state = await findVaultState(db);
  if (state?.root_key_id !== keyId) {
    throw new VaultError(
      `Secrets are encrypted with the root key ${state?.root_key_id}, but this server has ${keyId}. Servers that share a database need the same root key.`,
    );
  }
  const problem = await findVaultProblem({ db, rootKeys });
  if (problem !== null) throw new VaultError(problem);
  return { keyring: createKeyring({ rootKeys, now }), rootKeys };
}
