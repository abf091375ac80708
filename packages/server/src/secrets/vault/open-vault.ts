import type { Database } from '../../store/tables.ts';
import { makeKeyFile, readKeyFiles } from './key-files.ts';
import { findState, insertState, rootKeyIdsInUse } from './key-rows.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import { localRootKeys, type RootKeyProvider, rootKeyId } from './root-key.ts';

/** Where root keys come from: the operator's own, the one that wraps first, or files of the service's own. */
export type RootKeySource = { readonly keys: readonly [Buffer, ...Buffer[]] } | { readonly folder: string };

export type Vault = { readonly keyring: Keyring; readonly rootKeys: RootKeyProvider };

/** The service must not start: what is stored could not be opened, or a second root key would come to be. */
class VaultError extends Error {
  override readonly name = 'VaultError';
}

/** What to do at a start, from what is at hand and what is stored (secrets 8.2, key table). */
export type Opening =
  | { readonly kind: 'create' }
  | { readonly kind: 'refuse'; readonly message: string }
  | { readonly kind: 'use'; readonly keyId: string };

/** `wraps`: the root key of the stored state, null when nothing was ever sealed. `needed`: all without which something does not open. */
export function planOpening(
  atHand: readonly string[],
  stored: { readonly wraps: string | null; readonly needed: readonly string[] },
): Opening {
  const missing = stored.needed.filter((id) => !atHand.includes(id));
  if (missing.length > 0) {
    const have = atHand.length === 0 ? 'none is at hand' : `at hand: ${atHand.join(', ')}`;
    return {
      kind: 'refuse',
      message: `Secrets are sealed with the root key ${missing.join(', ')}, and ${have}. Put that key back; another one is never made in its place.`,
    };
  }
  if (stored.wraps !== null) return { kind: 'use', keyId: stored.wraps };
  const [first] = atHand;
  return first === undefined ? { kind: 'create' } : { kind: 'use', keyId: first };
}

export const canaryContext = Buffer.from('canary');
export const canary = Buffer.from('This opens with the right key.  ');

/**
 * Opens the vault, and makes the first root key where nothing was ever sealed.
 *
 * @throws VaultError, KeyFileError
 */
export async function openVault(context: { db: Database; now: () => Date }, source: RootKeySource): Promise<Vault> {
  const { db, now } = context;
  const keys = 'keys' in source ? [...source.keys] : await readKeyFiles(source.folder);
  const stored = { wraps: (await findState(db))?.root_key_id ?? null, needed: await rootKeyIdsInUse(db) };
  const opening = planOpening(keys.map(rootKeyId), stored);
  if (opening.kind === 'refuse') throw new VaultError(opening.message);
  const wrapping =
    opening.kind === 'create' && 'folder' in source
      ? await makeKeyFile(source.folder)
      : keys.find((key) => opening.kind === 'use' && rootKeyId(key) === opening.keyId);
  if (wrapping === undefined) throw new VaultError('There is no root key.');
  const rootKeys = localRootKeys([wrapping, ...keys.filter((key) => key !== wrapping)]);
  await requireCanary(db, rootKeys, now);
  return { keyring: createKeyring({ rootKeys, now }), rootKeys };
}

async function requireCanary(db: Database, rootKeys: RootKeyProvider, now: () => Date): Promise<void> {
  const { keyId } = await rootKeys.status();
  const sealed = await rootKeys.wrap(canary, canaryContext);
  await insertState(db, { root_key_id: keyId, canary: sealed, created_at: now() });
  const state = await findState(db);
  const id = state?.root_key_id ?? '';
  // Another server was first, with another key.
  if (id !== keyId) {
    throw new VaultError(
      `Secrets are sealed with the root key ${id}, and this server has ${keyId}. Servers of one database share it.`,
    );
  }
  const opened = await rootKeys.unwrap(state?.canary ?? Buffer.alloc(0), id, canaryContext).catch(() => null);
  if (opened?.equals(canary) !== true) {
    throw new VaultError(`The root key ${keyId} does not open what was sealed with the root key ${id}.`);
  }
}
