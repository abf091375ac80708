import { type Kysely, sql } from 'kysely';

/**
 * Replaces all MACs of secrets by one MAC per revision of a secret set. Decrypting a secret set no longer needs the audit log.
 * The new MACs need keys, so the service adds them at its next start (`secrets/add-revision-macs.ts`).
 */
export const secretMacsMigration = {
  name: '0016-secret-macs',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  'drop table secret_pins',
  'alter table vault_state drop column pins_stamped',
  // Drop the columns `host` and `revisions` of sets, because secret_revisions already contains their data.
  'alter table secret_sets drop column stamp, drop column host, drop column revisions',
  'alter table secret_revisions rename column stamp to former_mac',
  'alter table secret_revisions alter column former_mac drop not null, add column mac bytea',
  'alter table pull_secret_checks drop column stamp',
  // From this version on, key rotation and re-encryption are one task. A task that was running must be requested again.
  `delete from vault_tasks where task in ('rotate', 'reencrypt')`,
  'alter table vault_tasks drop column reached, drop column root_key_id, drop column proof',
  'alter table vault_tasks drop constraint vault_tasks_task_check',
  `alter table vault_tasks add check (task in ('rekey', 'rotate', 'verify'))`,
  'drop index audit_events_of_set',
];
