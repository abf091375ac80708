import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createTestDatabaseRows, secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { purgeExpiredAccountData } from './purge.ts';

it('purgeExpiredAccountData deletes expired rows, and keeps all other rows', async () => {
  const rows = await createTestDatabaseRows();
  const { db } = rows;
  const [userId, organizationId] = [newId(), await rows.organization()];
  const times = { created_at: secondsAgo(60), updated_at: secondsAgo(60) };
  await db
    .insertInto('users')
    .values({ id: userId, email: 'ada@example.com', name: 'Ada', image: null, ...times })
    .execute();
  const expiries = { past: secondsAgo(1), future: new Date(testNow.getTime() + 1_000), never: null };
  for (const [name, expiry] of Object.entries(expiries)) {
    const token = { user_id: userId, created_by: 'person' as const, name, start: 'pcc_pat_', last_used_at: null };
    await db
      .insertInto('personal_tokens')
      .values({ ...token, id: newId(), hash: Buffer.from(name), created_at: secondsAgo(60), expires_at: expiry })
      .execute();
    if (expiry === null) continue;
    await db
      .insertInto('user_sessions')
      .values({
        id: newId(),
        user_id: userId,
        token: name,
        expires_at: expiry,
        ip_address: null,
        user_agent: null,
        ...times,
      })
      .execute();
    const link = { purpose: 'invitation' as const, organization_id: organizationId, role: 'owner' as const };
    await db
      .insertInto('one_time_links')
      .values({
        ...link,
        id: newId(),
        hash: Buffer.from(name),
        email: name,
        user_id: null,
        created_at: secondsAgo(60),
        expires_at: expiry,
      })
      .execute();
  }
  await sql`insert into rate_limits values ('old', 1, now() - interval '2 days'), ('new', 1, now())`.execute(db);

  await purgeExpiredAccountData({ db, now: () => testNow });
  const remaining = async (table: string, column: string) =>
    (
      await sql<{ name: string }>`select ${sql.ref(column)} as name from ${sql.table(table)} order by 1`.execute(db)
    ).rows.map(({ name }) => name);
  expect(await remaining('personal_tokens', 'name')).toEqual(['future', 'never']);
  expect(await remaining('user_sessions', 'token')).toEqual(['future']);
  expect(await remaining('one_time_links', 'email')).toEqual(['future']);
  expect(await remaining('rate_limits', 'key')).toEqual(['new']);
  await rows.close();
});
