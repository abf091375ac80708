import { type Kysely, sql } from 'kysely';

/**
 * Allows the removal of audit log entries only above a minimum age: the shortest retention that `BOTHOST_AUDIT_RETENTION_DAYS`
 * allows. The age is a constant in the trigger, so that an attacker who can write rows cannot lower it.
 */
export const auditRetentionMigration = {
  name: '0012-audit-age',
  async up(db: Kysely<unknown>): Promise<void> {
    // A checkpoint names an audit log entry. It allows the removal of this entry and of all earlier entries, so check the age
    // of all of them. Otherwise, an attacker could append an entry with a false, old time and create a checkpoint that names
    // it. `now()` is the clock of the database, which clients cannot set.
    await sql`create or replace function audit_checkpoints_advance() returns trigger language plpgsql as $$
      begin
        if tg_op in ('INSERT', 'UPDATE') then
          if exists (select from audit_events where organization_id = new.organization_id
            and sequence <= new.sequence and at > now() - interval '30 days') then
            raise exception 'audit events younger than 30 days are not removed' using errcode = 'restrict_violation';
          end if;
          if (tg_op = 'INSERT' or (new.sequence > old.sequence and new.organization_id = old.organization_id))
            and exists (select from audit_events where organization_id = new.organization_id
              and sequence = new.sequence and hash = new.hash) then return new; end if;
        end if;
        raise exception 'an audit checkpoint only goes on, to an entry that is there' using errcode = 'restrict_violation';
      end $$`.execute(db);
  },
};
