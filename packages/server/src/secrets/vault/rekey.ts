import type { Database } from '../../store/tables.ts';
import { lockKeysNotUnder, replaceState, rewrapKey } from './key-rows.ts';
import { keyContext } from './keyring.ts';
import { canary, canaryContext } from './open-vault.ts';
import type { RootKeyProvider } from './root-key.ts';

const batch = 100;

/**
 * Wraps the keys of all organizations with the root key that `rootKeys` wraps with now; the ones before have to be at hand.
 * Values stay as they are. Killed in between, it goes on where it was: until then both root keys are needed, and a start
 * says so. Returns how many keys it wrapped.
 */
export async function rekeyVault(
  context: { readonly db: Database; readonly now: () => Date },
  rootKeys: RootKeyProvider,
): Promise<number> {
  const { db, now } = context;
  const { keyId } = await rootKeys.status();
  // First: what is made from now on is wrapped by the new one, also by a server that starts in between.
  const sealed = await rootKeys.wrap(canary, canaryContext);
  await replaceState(db, { root_key_id: keyId, canary: sealed, created_at: now() });
  let wrapped = 0;
  for (let round = -1; round !== 0; wrapped += round) {
    round = await db.transaction().execute(async (inside) => {
      const rows = await lockKeysNotUnder(inside, keyId, batch);
      for (const row of rows) {
        const key = await rootKeys.unwrap(row.wrapped, row.root_key_id, keyContext(row));
        const next = { ...row, root_key_id: keyId };
        await rewrapKey(inside, row, { root_key_id: keyId, wrapped: await rootKeys.wrap(key, keyContext(next)) });
        key.fill(0);
      }
      return rows.length;
    });
  }
  return wrapped;
}
