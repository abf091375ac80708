import { type Insertable, type Selectable, sql } from 'kysely';
import type {
  Database,
  DeviceLoginsTable,
  OneTimeLinksTable,
  PersonalTokensTable,
  UserCredentialsTable,
  UsersTable,
} from '../store/tables.ts';

export type UserRow = Selectable<UsersTable>;
export type PersonalTokenRow = Selectable<PersonalTokensTable>;
export type OneTimeLinkRow = Selectable<OneTimeLinksTable>;
export type DeviceLoginRow = Selectable<DeviceLoginsTable>;

/** The `provider_id` of a credential that is a password. better-auth defines this value. */
export const passwordProviderId = 'credential';

export function findUser(db: Database, id: string): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
}

export function findUserByEmail(db: Database, email: string): Promise<UserRow | undefined> {
  return db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
}

/** Inserts a user. Returns false if another user has this e-mail address. */
export async function insertUser(db: Database, row: Insertable<UsersTable>): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('users')
    .values(row)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function updateUserRow(
  db: Database,
  id: string,
  fields: {
    readonly name?: string;
    readonly email?: string;
    readonly email_verified?: boolean;
    readonly updated_at: Date;
  },
): Promise<void> {
  await db.updateTable('users').set(fields).where('id', '=', id).execute();
}

export async function findPasswordHash(db: Database, userId: string): Promise<string | null> {
  const row = await db
    .selectFrom('user_credentials')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', passwordProviderId)
    .executeTakeFirst();
  return row?.password ?? null;
}

/** Stores a user's password credential, and replaces an existing one. */
export async function storePassword(db: Database, row: Insertable<UserCredentialsTable>): Promise<void> {
  await db
    .insertInto('user_credentials')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['provider_id', 'account_id'])
        .doUpdateSet({ password: row.password, updated_at: row.updated_at }),
    )
    .execute();
}

export async function deleteSessions(db: Database, userId: string, exceptId: string | null): Promise<void> {
  await db
    .deleteFrom('user_sessions')
    .where('user_id', '=', userId)
    .$if(exceptId !== null, (query) => query.where('id', '!=', exceptId))
    .execute();
}

export async function deleteSession(db: Database, id: string): Promise<void> {
  await db.deleteFrom('user_sessions').where('id', '=', id).execute();
}

export async function insertOneTimeLink(db: Database, row: Insertable<OneTimeLinksTable>): Promise<void> {
  await db.insertInto('one_time_links').values(row).execute();
}

export function findOneTimeLink(db: Database, hash: Buffer): Promise<OneTimeLinkRow | undefined> {
  return db.selectFrom('one_time_links').selectAll().where('hash', '=', hash).executeTakeFirst();
}

/** Deletes a one-time link and returns its row. Of several concurrent calls, only one gets the row. */
export function consumeOneTimeLink(db: Database, hash: Buffer): Promise<OneTimeLinkRow | undefined> {
  return db.deleteFrom('one_time_links').where('hash', '=', hash).returningAll().executeTakeFirst();
}

export async function deletePasswordResets(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('one_time_links').where('user_id', '=', userId).execute();
}

export function listInvitationRows(db: Database, organizationId: string, now: Date): Promise<OneTimeLinkRow[]> {
  return db
    .selectFrom('one_time_links')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export function deleteInvitation(
  db: Database,
  organizationId: string,
  id: string,
): Promise<OneTimeLinkRow | undefined> {
  return db
    .deleteFrom('one_time_links')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function insertPersonalToken(db: Database, row: Insertable<PersonalTokensTable>): Promise<void> {
  await db.insertInto('personal_tokens').values(row).execute();
}

export function listPersonalTokenRows(db: Database, userId: string): Promise<PersonalTokenRow[]> {
  return db
    .selectFrom('personal_tokens')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export function deletePersonalToken(db: Database, userId: string, id: string): Promise<PersonalTokenRow | undefined> {
  return db
    .deleteFrom('personal_tokens')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteDeviceTokens(db: Database, userId: string): Promise<void> {
  await db
    .deleteFrom('personal_tokens')
    .where('user_id', '=', userId)
    .where('created_by', '=', 'device-login')
    .execute();
}

export function findPersonalTokenByHash(
  db: Database,
  hash: Buffer,
): Promise<(PersonalTokenRow & { email: string }) | undefined> {
  return db
    .selectFrom('personal_tokens')
    .innerJoin('users', 'users.id', 'user_id')
    .selectAll('personal_tokens')
    .select('email')
    .where('hash', '=', hash)
    .executeTakeFirst();
}

export async function updatePersonalTokenLastUse(db: Database, id: string, at: Date): Promise<void> {
  await db.updateTable('personal_tokens').set({ last_used_at: at }).where('id', '=', id).execute();
}

export async function updateDeviceLoginDetails(
  db: Database,
  deviceCode: string,
  fields: { readonly device_name: string | null; readonly address: string | null },
): Promise<void> {
  await db.updateTable('device_logins').set(fields).where('device_code', '=', deviceCode).execute();
}

export function findDeviceLogin(db: Database, userCode: string): Promise<DeviceLoginRow | undefined> {
  return db
    .selectFrom('device_logins')
    .select([
      'id',
      'device_code',
      'user_code',
      'user_id',
      'status',
      'expires_at',
      'client_id',
      'device_name',
      'address',
    ])
    .where('user_code', '=', userCode)
    .executeTakeFirst();
}

export async function findDeviceName(db: Database, deviceCode: string): Promise<string | null> {
  const row = await db
    .selectFrom('device_logins')
    .select('device_name')
    .where('device_code', '=', deviceCode)
    .executeTakeFirst();
  return row?.device_name ?? null;
}

export async function insertAuthorizationCode(
  db: Database,
  row: { readonly id: string; readonly identifier: string; readonly value: string; readonly expires_at: Date },
  now: Date,
): Promise<void> {
  await db
    .insertInto('auth_verifications')
    .values({ ...row, created_at: now, updated_at: now })
    .execute();
}

/** Deletes an unexpired authorization code and returns its value, so that it is used only once. */
export async function consumeAuthorizationCode(
  db: Database,
  identifier: string,
  now: Date,
): Promise<string | undefined> {
  const row = await db
    .deleteFrom('auth_verifications')
    .where('identifier', '=', identifier)
    .where('expires_at', '>', now)
    .returning('value')
    .executeTakeFirst();
  return row?.value;
}

/** Deletes expired rows, and rate limits that were not used for a day, because their token buckets are full again. */
export async function deleteExpiredAccountRows(db: Database, now: Date): Promise<void> {
  for (const table of ['user_sessions', 'auth_verifications', 'device_logins', 'one_time_links'] as const) {
    await db.deleteFrom(table).where('expires_at', '<', now).execute();
  }
  await db.deleteFrom('personal_tokens').where('expires_at', '<', now).execute();
  await sql`delete from rate_limits where updated_at < now() - interval '1 day'`.execute(db);
}
