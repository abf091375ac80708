import type { Insertable } from 'kysely';
import type { Database, VaultStateTable } from '../../store/tables.ts';
import { DamagedError } from './damaged.ts';
import { countKeysByRoot, type KeyName, lockKeysNotUnder, rewrapKey, type VaultKeyRow } from './key-rows.ts';
import { keyContext } from './keyring.ts';
import { RootKeyMissing, type RootKeyProvider } from './root-key.ts';
import { currentRootKeyId } from './vault-state.ts';

type Context = { readonly db: Database; readonly rootKeys: RootKeyProvider };

const batch = 100;

/**
 * Names the root key that wraps from now on (`newState`): keys of organizations that are made later are wrapped with it,
 * by every server of the database. Call it in the transaction that notes the work of `rewrapKeys`.
 */
export async function changeRootKey(db: Database, state: Insertable<VaultStateTable>): Promise<void> {
  await db.updateTable('vault_state').set(state).execute();
}

/** How many keys of organizations each root key wraps. */
export function countKeysByRootId(db: Database): Promise<ReadonlyMap<string, number>> {
  return countKeysByRoot(db);
}

/** How many keys of organizations there are, and how many of them a former root key wraps. */
export async function countWrapped(db: Database): Promise<{ total: number; behind: number }> {
  const current = await currentRootKeyId(db);
  const counts = [...(await countKeysByRoot(db))];
  const sum = (rows: typeof counts) => rows.reduce((total, [, count]) => total + count, 0);
  return { total: sum(counts), behind: sum(counts.filter(([id]) => id !== current)) };
}

/**
 * Wraps keys of organizations with the root key that wraps now, one time around; the ones before have to be at hand. Values
 * stay as they are. `advance` is told of each batch when it is stored. Answers the keys that do not unwrap, which stay as
 * they are; those that somebody else was at are left for the next time.
 */
export async function rewrapKeys(
  context: Context,
  advance: (count: number) => Promise<void>,
): Promise<readonly (KeyName & { readonly problem: string })[]> {
  const broken: (KeyName & { problem: string })[] = [];
  const keyId = await currentRootKeyId(context.db);
  if (!(await context.rootKeys.has(keyId))) throw new RootKeyMissing(`The root key ${keyId} is not available.`);
  for (let after: KeyName | null = null; ; ) {
    const rows: VaultKeyRow[] = await context.db.transaction().execute(async (db) => {
      const found = await lockKeysNotUnder(db, keyId, after, batch);
      for (const row of found) {
        const problem = await rewrap({ ...context, db }, row, keyId);
        if (problem !== null) broken.push({ ...row, problem });
      }
      return found;
    });
    await advance(rows.length);
    after = rows.at(-1) ?? null;
    if (after === null) return broken;
  }
}

async function rewrap({ db, rootKeys }: Context, row: VaultKeyRow, keyId: string): Promise<string | null> {
  try {
    const key = await rootKeys.unwrap(row.wrapped, row.root_key_id, keyContext(row));
    const wrapped = await rootKeys.wrap(key, keyId, keyContext({ ...row, root_key_id: keyId }));
    key.fill(0);
    await rewrapKey(db, row, { root_key_id: keyId, wrapped });
    return null;
  } catch (error) {
    if (error instanceof DamagedError || error instanceof RootKeyMissing) return error.message;
    throw error;
  }
}
