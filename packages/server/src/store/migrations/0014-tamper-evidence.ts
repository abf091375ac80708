import { type Kysely, sql } from 'kysely';

/** What lets a change of rows that had no stamp be found: pins of deployments, checks of registries, work on the vault. */
export const tamperEvidence = {
  name: '0014-tamper-evidence',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  // What deployments of before are pinned to has no stamp, which only the vault can make. It does so once, at its next start,
  // and `pins_stamped`, which is sealed with the canary, says from then on that what has none was changed.
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
  // Of what was told before nobody can say whether it is what was found: it is asked for again.
  `delete from pull_secret_checks`,
  `alter table pull_secret_checks add column stamp bytea not null default ''`,
  `delete from vault_tasks where state = 'done'`,
  `alter table vault_tasks add column root_key_id text, add column proof bytea`,
  // The last change of each set, which is looked up whenever the set is opened.
  `create index audit_events_of_set on audit_events (organization_id, lower(object), sequence)
    where result = 'done' and action in ('secrets.set', 'secrets.unset', 'secrets.rollback', 'secrets.delete')`,
];
