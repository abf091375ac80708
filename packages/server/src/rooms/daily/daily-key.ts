import { z } from 'zod';
import { findProviderKey } from '../../secrets/provider-key.ts';
import type { Keyring } from '../../secrets/vault/keyring.ts';
import type { Database } from '../../store/tables.ts';

const DailyKey = z.object({
  apiKey: z.string(),
  /** The secret, in Base64, with which Daily signs announcements of calls. Null if it signs none. */
  dialinSecret: z.string().nullable(),
});
export type DailyKey = z.infer<typeof DailyKey>;

export function encodeDailyKey(key: DailyKey): Buffer {
  return Buffer.from(JSON.stringify(key));
}

/** Returns the organization's key of Daily. Null if it has none. @throws DamagedDataError, RootKeyMissingError */
export async function findDailyKey(
  context: { readonly db: Database; readonly keyring: Keyring },
  organizationId: string,
): Promise<DailyKey | null> {
  const stored = await findProviderKey(context, { organizationId, provider: 'daily' });
  return stored === null ? null : DailyKey.parse(JSON.parse(stored.toString()));
}
