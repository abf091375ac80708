import { sql } from 'kysely';
import type { Database, SecretRevisionPin } from '../store/tables.ts';

/** Treats a value that is not a JSON array as empty: one damaged row must not fail queries over all rows. */
const pins = sql`case when json_typeof(deployments.secret_pins::json) = 'array' then deployments.secret_pins::json
  else '[]'::json end`;

export function findSecretPinsOfDeployment(db: Database, id: string) {
  return db
    .selectFrom('deployments')
    .innerJoin('agents', 'agents.id', 'deployments.agent_id')
    .select(['deployments.secret_pins', 'agents.organization_id', 'agents.region'])
    .where('deployments.id', '=', id)
    .executeTakeFirst();
}

/** Returns the desired or serving deployments that pin a secret set; for each agent, the desired one first. */
export async function listDeploymentsWithSecretSet(
  db: Database,
  setId: string,
): Promise<{ name: string; secret_pins: SecretRevisionPin[] }[]> {
  const { rows } = await sql<{ name: string; secret_pins: SecretRevisionPin[] }>`
    select agents.name, deployments.secret_pins from agents
    join deployments on deployments.id in (agents.desired_deployment_id, agents.active_deployment_id)
    where agents.deleted_at is null
      and exists (select from json_array_elements(${pins}) pin where pin->>'setId' = ${setId})
    order by agents.name, (deployments.id = agents.desired_deployment_id) desc`.execute(db);
  return rows;
}

export async function listAgentsWithPullSecret(
  db: Database,
  setId: string,
): Promise<{ name: string; revision: number }[]> {
  const { rows } = await sql<{ name: string; revision: number }>`
    select distinct agents.name, secret_sets.revision from secret_sets
    join agents on agents.organization_id = secret_sets.organization_id and agents.deleted_at is null
    join deployments on deployments.id in (agents.desired_deployment_id, agents.active_deployment_id)
    where secret_sets.id = ${setId} and lower(deployments.image_pull_secret) = lower(secret_sets.name)
    order by agents.name`.execute(db);
  return rows;
}

/** Revisions that are pinned by a deployment of an existing agent, or by one with an instance that has not ended. */
export async function listPinnedSecretRevisions(db: Database, setId: string): Promise<number[]> {
  const { rows } = await sql<{ revision: number }>`
    select distinct case when pin->>'revision' ~ '^[0-9]{1,9}$' then (pin->>'revision')::int else 0 end as revision
    from deployments join agents on agents.id = deployments.agent_id, json_array_elements(${pins}) pin
    where pin->>'setId' = ${setId} and (agents.deleted_at is null or exists (
      select from instances where instances.deployment_id = deployments.id and instances.state <> 'ended'))`.execute(
    db,
  );
  return rows.map(({ revision }) => revision);
}
