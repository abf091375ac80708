import { failure } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import type { Entry } from './change.ts';
import { openRevision, openRow, requireSetWhole, valueRowsOf } from './open-set.ts';
import type { SecretSetRow, ValueRow } from './rows.ts';
import { isDamage } from './vault/damaged.ts';
import { type Keyring, lookedUpOnce } from './vault/keyring.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

export type SetContent = {
  readonly host: string | null;
  readonly expiresAt: Date | null;
  readonly entries: readonly Entry[];
  readonly rows: ReadonlyMap<string, ValueRow>;
};

/** What a revision of a set holds, without opening a value. @throws failure `secret-set-damaged` */
export function readSet(context: Context, set: SecretSetRow, revision = set.revision): Promise<SetContent> {
  return tellDamage(async () => {
    await requireSetWhole(context, set);
    const row = await openRevision(context, set, revision);
    return {
      host: row.host,
      expiresAt: row.expires_at,
      entries: row.entries,
      rows: await valueRowsOf(context.db, row),
    };
  });
}

/** The keys whose value is the one given already. It is opened for that. @throws failure `secret-set-damaged` */
export function sameKeys(
  context: Context,
  set: SecretSetRow,
  rows: ReadonlyMap<string, ValueRow>,
  values: ReadonlyMap<string, Buffer>,
): Promise<ReadonlySet<string>> {
  return tellDamage(async () => {
    const reading = { ...context, keyring: lookedUpOnce(context.keyring) };
    const same = new Set<string>();
    for (const [key, value] of values) {
      const row = rows.get(key);
      if (row === undefined) continue;
      const stored = await openRow(reading, set, row);
      if (stored.equals(value)) same.add(key);
      stored.fill(0);
    }
    return same;
  });
}

/** @throws failure `secret-set-damaged` in place of what tells more */
export async function tellDamage<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw isDamage(error) ? failure('secret-set-damaged', { cause: error }) : error;
  }
}
