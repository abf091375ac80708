import { type Kysely, sql } from 'kysely';

/**
 * Removes the checkpoints of the audit log: the oldest remaining event holds the hash from which the chain is verified.
 * Existing events stay as they are. At least one exists for each checkpoint, because every removal added one.
 */
export const singleAuditTable = {
  name: '0017-single-audit-table',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // The age is a constant, the minimum of BOTHOST_AUDIT_RETENTION_DAYS, so that an attacker who can write rows cannot lower
  // it.
  `create or replace function audit_events_stay() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and old.at < now() - interval '30 days' then return old; end if;
      raise exception 'audit events are never changed, and not removed before they are 30 days old'
        using errcode = 'restrict_violation';
    end $$`,
  'drop table audit_checkpoints',
  'drop function audit_checkpoints_advance()',
];
