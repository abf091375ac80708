import { type Kysely, sql } from 'kysely';

/**
 * Removes the checkpoints of the audit log, which stored the hash of the newest removed event. The hash chain is now verified
 * from the hash in the oldest remaining event. A log with a checkpoint has at least one event, because every removal of events
 * was recorded as an event.
 */
export const singleAuditTableMigration = {
  name: '0017-single-audit-table',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // Audit events can be deleted only after 30 days, the shortest retention that BOTHOST_AUDIT_RETENTION_DAYS allows. The age
  // is a constant in the trigger, so that an attacker who can write rows cannot lower it.
  `create or replace function audit_events_stay() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and old.at < now() - interval '30 days' then return old; end if;
      raise exception 'audit events are never changed, and not removed before they are 30 days old'
        using errcode = 'restrict_violation';
    end $$`,
  'drop table audit_checkpoints',
  'drop function audit_checkpoints_advance()',
];
