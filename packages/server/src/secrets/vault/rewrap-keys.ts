import type { Database } from '../../store/tables.ts';
import { DamagedError } from './damaged.ts';
import { countKeysByRoot, type KeyName, lockKeysNotUnder, updateWrappedKey, type VaultKeyRow } from './key-rows.ts';
import { keyContext } from './keyring.ts';
import { RootKeyMissing, type RootKeyProvider } from './root-key.ts';
import { currentRootKeyId } from './vault-state.ts';

type Context = { readonly db: Database; readonly rootKeys: RootKeyProvider };

const batch = 100;

/** How many organization keys each root key wraps. */
export function keysByRootKey(db: Database): Promise<ReadonlyMap<string, number>> {
  return countKeysByRoot(db);
}

/** How many keys organizations have, and how many of them a former root key wraps. */
export async function countWrapped(db: Database): Promise<{ total: number; behind: number }> {
  const current = await currentRootKeyId(db);
  const counts = [...(await countKeysByRoot(db))];
  const sum = (rows: typeof counts) => rows.reduce((total, [, count]) => total + count, 0);
  return { total: sum(counts), behind: sum(counts.filter(([id]) => id !== current)) };
}

/**
 * Wraps the keys of organizations with the current root key, in one pass. Former root keys have to be available. `advance` is
 * called after each stored batch. Returns the keys that do not unwrap, which stay unchanged; keys that another server has
 * locked are left for the next pass.
 */
export async function rewrapKeys(
  context: Context,
  advance: (count: number) => Promise<void>,
): Promise<readonly (KeyName & { readonly problem: string })[]> {
  const damaged: (KeyName & { problem: string })[] = [];
  const keyId = await currentRootKeyId(context.db);
  if (!(await context.rootKeys.has(keyId))) throw new RootKeyMissing(`The root key ${keyId} is not available.`);
  for (let after: KeyName | null = null; ; ) {
    const rows: VaultKeyRow[] = await context.db.transaction().execute(async (db) => {
      const locked = await lockKeysNotUnder(db, keyId, after, batch);
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
    const key = await rootKeys.unwrap(row.wrapped, row.root_key_id, keyContext(row));
    const wrapped = await rootKeys.wrap(key, keyId, keyContext({ ...row, root_key_id: keyId }));
    key.fill(0);
    await updateWrappedKey(db, row, { root_key_id: keyId, wrapped });
    return null;
  } catch (error) {
    if (error instanceof DamagedError || error instanceof RootKeyMissing) return error.message;
    throw error;
  }
}
