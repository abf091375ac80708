import { type Kysely, sql } from 'kysely';

/**
 * Adds MACs to three kinds of records: pins (the secret revisions that a deployment uses), registry checks of image pull
 * secrets, and vault tasks.
 */
export const tamperEvidenceMigration = {
  name: '0014-tamper-evidence',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // Existing pins (the secret revisions that a deployment uses) have no MAC. The vault adds MACs at its next start and then
  // sets `pins_stamped`. From then on, a pin without a MAC counts as tampered with.
  `create table secret_pins (
    deployment_id uuid not null references deployments on delete cascade,
    set_id uuid not null,
    organization_id uuid not null references organizations,
    region text not null,
    set_name text not null,
    revision integer not null,
    stamp bytea not null,
    primary key (deployment_id, set_id)
  )`,
  `create index secret_pins_of_organization on secret_pins (organization_id)`,
  `alter table vault_state add column pins_stamped boolean not null default false`,
  // Remove existing results of registry checks, because they have no MAC; the registries are checked again.
  `delete from pull_secret_checks`,
  `alter table pull_secret_checks add column stamp bytea not null default ''`,
  `delete from vault_tasks where state = 'done'`,
  `alter table vault_tasks add column root_key_id text, add column proof bytea`,
  // Index for looking up the last change of a secret set, which is needed whenever the set is decrypted.
  `create index audit_events_of_set on audit_events (organization_id, lower(object), sequence)
    where result = 'done' and action in ('secrets.set', 'secrets.unset', 'secrets.rollback', 'secrets.delete')`,
];
