import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/test-database.ts';
import { appendAudit } from '../../audit/append.ts';
import { type AuditEvent, computeChainHash, initialPreviousHash, organizationEventFields } from '../../audit/chain.ts';
import { verifyAudit } from '../../audit/verify.ts';
import { openDatabase } from '../database.ts';
import { migrate } from '../migrate.ts';
import type { Tables } from '../tables.ts';
import { newId } from '../uuid.ts';
import { singleAuditTableMigration } from './0017-single-audit-table.ts';
import { migrations } from './all.ts';

const organizationId = newId();
const event: AuditEvent = {
  ...organizationEventFields,
  at: new Date('2020-06-20T12:00:00.000Z'),
  actor: { keyId: null },
  action: 'secrets.set',
  result: 'done',
};

async function databaseBefore() {
  const { address, drop } = await createTestDatabase(
    migrations.slice(0, migrations.indexOf(singleAuditTableMigration)),
  );
  onTestFinished(drop);
  const db = await openDatabase<Tables>({ address, logger: pino({ level: 'silent' }) });
  onTestFinished(() => db.destroy());
  await db
    .insertInto('organizations')
    .values({ id: organizationId, name: 'home', verbose_name: 'Home', default_region: 'us-west', created_at: event.at })
    .execute();
  return db;
}

/** Writes five entries with the columns that existed before the migration. */
async function insertFormerEntries(db: Kysely<Tables>): Promise<void> {
  let previous: Buffer = initialPreviousHash;
  for (let sequence = 1; sequence <= 5; sequence += 1) {
    const hash = computeChainHash(previous, organizationId, sequence, event);
    await sql`insert into audit_events
      (organization_id, sequence, at, action, keys, result, count, previous_hash, hash)
      values (${organizationId}, ${sequence}, ${event.at}, ${event.action}, '[]', ${event.result}, 1, ${previous}, ${hash})
    `.execute(db);
    previous = hash;
  }
}

test('an audit log with a checkpoint keeps its remaining entries, verifies and continues after migration 0017', async () => {
  const db = await databaseBefore();
  await insertFormerEntries(db);
  await sql`insert into audit_checkpoints select organization_id, sequence, hash from audit_events where sequence = 2`.execute(
    db,
  );
  await sql`delete from audit_events where sequence <= 2`.execute(db);
  const kept = await db.selectFrom('audit_events').selectAll().orderBy('sequence').execute();

  expect(await migrate(db, migrations)).toContain(singleAuditTableMigration.name);
  expect(await db.selectFrom('audit_events').selectAll().orderBy('sequence').execute()).toMatchObject(kept);
  await db.transaction().execute((trx) => appendAudit(trx, organizationId, event));
  expect(await verifyAudit({ db }, { organizationId })).toMatchObject({
    ok: true,
    entries: 4,
    firstSequence: 3,
    lastSequence: 6,
    removedThrough: 2,
  });
});
