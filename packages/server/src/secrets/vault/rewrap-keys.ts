import type { Database } from '../../store/tables.ts';
import { DamagedDataError } from './damaged-data-error.ts';
import {
  countKeysByRootKey,
  type KeyIdentity,
  lockKeyRowsToRewrap,
  updateWrappedKey,
  type VaultKeyRow,
} from './key-rows.ts';
import { encodeWrappedKeyContext } from './keyring.ts';
import { RootKeyMissingError, type RootKeyProvider } from './root-key.ts';
import { readRootKeyId } from './vault-state.ts';

type Context = { readonly db: Database; readonly rootKeys: RootKeyProvider };

const batch = 100;

export function countWrappedKeysByRootKey(db: Database): Promise<ReadonlyMap<string, number>> {
  return countKeysByRootKey(db);
}

/** Counts the wrapped keys of organizations. `behind` is the number of keys that a former root key wraps. */
export async function countWrappedKeys(db: Database): Promise<{ total: number; behind: number }> {
  const current = await readRootKeyId(db);
  const counts = [...(await countKeysByRootKey(db))];
  const sum = (rows: typeof counts) => rows.reduce((total, [, count]) => total + count, 0);
  return { total: sum(counts), behind: sum(counts.filter(([id]) => id !== current)) };
}

/**
 * Rewraps the keys of organizations with the current root key, in one pass. Former root keys have to be available. `advance` is
 * called after each stored batch. Returns the keys that cannot be unwrapped, which stay unchanged; keys that another server has
 * locked are left for the next pass.
 */
export async function rewrapKeys(
  context: Context,
  advance: (count: number) => Promise<void>,
): Promise<readonly (KeyIdentity & { readonly problem: string })[]> {
  const damaged: (KeyIdentity & { problem: string })[] = [];
  const keyId = await readRootKeyId(context.db);
  if (!(await context.rootKeys.has(keyId))) throw new RootKeyMissingError(`The root key ${keyId} is not available.`);
  for (let after: KeyIdentity | null = null; ; ) {
    const rows: VaultKeyRow[] = await context.db.transaction().execute(async (db) => {
      const locked = await lockKeyRowsToRewrap(db, keyId, after, batch);
      for (const row of locked) {
        const problem = await rewrap({ ...context, db }, row, keyId);
        if (problem !== null) damaged.push({ ...row, problem });
      }
      return locked;
    });
    await advance(rows.length);
    after = rows.at(-1) ?? null;
    if (after === null) return damaged;
  }
}

async function rewrap({ db, rootKeys }: Context, row: VaultKeyRow, keyId: string): Promise<string | null> {
  try {
    const key = await rootKeys.unwrap(row.wrapped, row.root_key_id, encodeWrappedKeyContext(row));
    const wrapped = await rootKeys.wrap(key, keyId, encodeWrappedKeyContext({ ...row, root_key_id: keyId }));
    key.fill(0);
    await updateWrappedKey(db, row, { root_key_id: keyId, wrapped });
    return null;
  } catch (error) {
    if (error instanceof DamagedDataError || error instanceof RootKeyMissingError) return error.message;
    throw error;
  }
}
