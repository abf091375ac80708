import { join } from 'node:path';
import type { BuiltService } from '../../../../test/built-service.ts';
import { openDirectDatabaseConnection } from '../../../server/test/crash/direct-database-connection.ts';

const parrot = { organization: 'home', name: 'parrot' };

/** Inserts database rows of ended sessions of an agent, one for each second before the present. */
export async function insertSessions(
  service: BuiltService,
  count: number,
  { organization, name } = parrot,
): Promise<void> {
  await changeRows(
    service,
    `insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, created_at, updated_at,
       requested_at, bot_started_at, cold_start, ended_at, completion_status, events)
     select gen_random_uuid(), organization_id, id, desired_deployment_id, 'ended', 'none', at, at, at, at, false,
       at + interval '30 seconds', 'HTTP_COMPLETED', '[]'
     from agents, generate_series(1, $1) as number, lateral (select date_trunc('milliseconds', now()) - number * interval '1 second' as at) as times
     where agents.name = $2 and organization_id = (select id from organizations where name = $3)`,
    count,
    name,
    organization,
  );
}

export async function deleteOldestSessions(service: BuiltService, count: number, organization: string): Promise<void> {
  await changeRows(
    service,
    `delete from sessions where id in (select id from sessions
     where organization_id = (select id from organizations where name = $2) order by created_at limit $1)`,
    count,
    organization,
  );
}

/** Inserts copies of the deployment of the agent `parrot`, which failed before it was created. */
export async function insertFailedDeployments(service: BuiltService, count: number): Promise<void> {
  await changeRows(
    service,
    `insert into deployments select (jsonb_populate_record(deployments, jsonb_build_object('id', gen_random_uuid(),
       'created_at', created_at - number * interval '1 hour', 'state', 'failed', 'activated_at', null))).*
     from deployments, generate_series(1, $1) as number
     where deployments.id = (select desired_deployment_id from agents where name = 'parrot')`,
    count,
  );
}

async function changeRows({ folder }: BuiltService, statement: string, ...values: readonly unknown[]): Promise<void> {
  const database = openDirectDatabaseConnection(join(folder, 'data'));
  await database.rows(statement, values);
  await database.rows('analyze');
  await database.close();
}
