import { randomBytes } from 'node:crypto';
import { readContentKeyVersion, unwrapContentKey, wrapContentKey } from '../secrets/vault/content-key.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };
type Owner = { readonly organizationId: string; readonly webhookId: string };

/** Creates a signing key in the format of Standard Webhooks, and wraps it. Call this outside a transaction. */
export async function createSigningKey(
  { db, keyring }: Context,
  owner: Owner,
): Promise<{ readonly secret: string; readonly wrapped: Buffer }> {
  await keyring.ensure(db, owner.organizationId);
  const organizationKey = await keyring.current(db, owner.organizationId, 'value');
  const key = randomBytes(32);
  return {
    secret: `whsec_${key.toString('base64')}`,
    wrapped: wrapContentKey(organizationKey, owner, key, randomBytes),
  };
}

/** @throws DamagedDataError, RootKeyMissingError if the key cannot be unwrapped */
export async function readSigningKey({ db, keyring }: Context, owner: Owner, wrapped: Buffer): Promise<Buffer> {
  const version = readContentKeyVersion(wrapped);
  return unwrapContentKey(await keyring.version(db, owner.organizationId, 'value', version), owner, wrapped);
}
