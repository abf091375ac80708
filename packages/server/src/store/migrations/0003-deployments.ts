import { type Kysely, sql } from 'kysely';

/** Adds columns to deployments, for example the build, the creator, and the deployment that a rollback copied. */
export const deploymentsMigration = {
  name: '0003-deployments',
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `alter table deployments drop constraint deployments_state_check`,
  // `state_at` has a default, because a server of the previous version may still insert rows while the migration runs.
  `alter table deployments
    add constraint deployments_state_check check (state in ('preparing', 'validating', 'ready', 'failed')),
    add column build_id uuid,
    add column error_code text,
    add column error_at timestamptz,
    add column last_exit json,
    add column restarts integer not null default 0,
    add column secret_pins json not null default '[]',
    add column created_by_key_id uuid,
    add column rolled_back_from uuid,
    add column state_at timestamptz not null default now(),
    add column activated_at timestamptz,
    add column replaced_at timestamptz`,
  `update deployments set state_at = updated_at, activated_at = case when state = 'ready' then updated_at end,
    error_code = case when state = 'failed' then 'PCC_UNKNOWN_ERROR' end,
    error_at = case when error is not null then updated_at end`,
  // Index for finding the deployments of a build, which show whether the build is still in use.
  `create index deployments_of_build on deployments (build_id, created_at) where build_id is not null`,
];
