import { createApiError, isRoomTransport, type KeyedRoomProvider, type RoomConnection } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import {
  deleteProviderKey,
  listProviderKeys,
  type StoredProviderKey,
  storeProviderKey,
} from '../secrets/provider-key.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { Database } from '../store/tables.ts';
import { encodeDailyKey, findDailyKey } from './daily/daily-key.ts';
import type { DailyConnection } from './daily/daily-request.ts';
import { findDailyDomain } from './daily/daily-rooms.ts';
import { countRooms, resumeRoomDeletions } from './rows.ts';

type Context = { readonly db: Database; readonly now: () => Date };
type Scope = Actor & { readonly organizationId: string };

/** Lists the providers whose keys the organization has stored. */
export async function listRoomConnections(
  { db }: Pick<Context, 'db'>,
  { organizationId }: { readonly organizationId: string },
): Promise<readonly RoomConnection[]> {
  const keys = await listProviderKeys(db, organizationId);
  // The same table has the credentials of phone carriers.
  const ofRooms = keys.filter(({ provider }) => isRoomTransport(provider));
  return Promise.all(ofRooms.map((key) => readConnection(db, organizationId, key)));
}

/**
 * Checks a key at its provider, and stores it. Rooms that could not be deleted with the former key are deleted with this one.
 * Without `dialinSecret`, a stored secret of the same domain is kept.
 *
 * @throws failure `rooms-key-invalid`, `rooms-unavailable`, `rooms-busy`, `rooms-timeout`; DamagedDataError, RootKeyMissingError
 */
export async function connectRooms(
  context: Context & {
    readonly keyring: Keyring;
    readonly daily: DailyConnection;
    readonly deleteRooms: () => void;
  },
  scope: Scope,
  provider: KeyedRoomProvider,
  credentials: { readonly apiKey: string; readonly dialinSecret?: string | null | undefined },
): Promise<RoomConnection> {
  const { organizationId } = scope;
  const account = await findDailyDomain(context.daily, credentials.apiKey);
  await context.keyring.ensure(context.db, organizationId);
  const dialinSecret =
    credentials.dialinSecret === undefined
      ? await findDialinSecret(context, { organizationId, account })
      : credentials.dialinSecret;
  const at = context.now();
  const key = { account, details: { signsDialin: dialinSecret !== null }, connected_at: at };
  await context.db.transaction().execute(async (db) => {
    const value = encodeDailyKey({ apiKey: credentials.apiKey, dialinSecret });
    await storeProviderKey({ ...context, db }, { organizationId, provider }, { ...key, value });
    await resumeRoomDeletions(db, { organizationId, provider, at });
    await record(db, scope, 'rooms.connect', provider, at);
  });
  context.deleteRooms();
  return readConnection(context.db, organizationId, { ...key, provider });
}

/** Returns the stored secret with which a domain of Daily signs announcements of calls. Null if there is none. */
async function findDialinSecret(
  context: Context & { readonly keyring: Keyring },
  { organizationId, account }: { readonly organizationId: string; readonly account: string },
): Promise<string | null> {
  const keys = await listProviderKeys(context.db, organizationId);
  const signs = ({ provider, details }: StoredProviderKey) => provider === 'daily' && details.signsDialin === true;
  // Only this value is decrypted, so that a key that cannot be decrypted can be replaced.
  if (!keys.some((key) => signs(key) && key.account === account)) return null;
  return (await findDailyKey(context, organizationId))?.dialinSecret ?? null;
}

/** Deletes the key of a provider. @throws failure `rooms-not-found`, `rooms-open` if rooms exist, unless forced */
export async function disconnectRooms(
  context: Context,
  scope: Scope,
  provider: KeyedRoomProvider,
  isForced: boolean,
): Promise<RoomConnection> {
  const { organizationId } = scope;
  return context.db.transaction().execute(async (db) => {
    const key = await deleteProviderKey(db, { organizationId, provider });
    if (key === null) throw createApiError('rooms-not-found');
    const connection = await readConnection(db, organizationId, key);
    if (connection.openRooms > 0 && !isForced) throw createApiError('rooms-open');
    await record(db, scope, 'rooms.disconnect', provider, context.now());
    return connection;
  });
}

function record(
  db: Database,
  { organizationId, ...actor }: Scope,
  action: 'rooms.connect' | 'rooms.disconnect',
  provider: KeyedRoomProvider,
  at: Date,
): Promise<void> {
  return appendAudit(db, organizationId, {
    ...organizationEventFields,
    at,
    actor,
    action,
    object: provider,
    result: 'done',
  });
}

async function readConnection(
  db: Database,
  organizationId: string,
  { provider, account, details, connected_at }: StoredProviderKey,
): Promise<RoomConnection> {
  return {
    provider: provider as KeyedRoomProvider,
    account,
    signsDialin: details.signsDialin === true,
    openRooms: await countRooms(db, organizationId, provider),
    connectedAt: connected_at.toISOString(),
  };
}
