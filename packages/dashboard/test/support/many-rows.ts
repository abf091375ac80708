import { join } from 'node:path';
import type { BuiltService } from '../../../../test/service.ts';
import { openDirectDatabaseConnection } from '../../../server/test/crash/direct-database-connection.ts';

/** Inserts database rows of ended sessions of the agent `parrot`, one for each second before the present. */
export async function insertSessions(service: BuiltService, count: number): Promise<void> {
  await insertRows(
    service,
    `insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, created_at, updated_at,
       requested_at, bot_started_at, cold_start, ended_at, completion_status, events)
     select gen_random_uuid(), organization_id, id, desired_deployment_id, 'ended', 'none', at, at, at, at, false,
       at + interval '30 seconds', 'HTTP_COMPLETED', '[]'
     from agents, generate_series(1, $1) as number, lateral (select now() - number * interval '1 second' as at) as times
     where agents.name = 'parrot'`,
    count,
  );
}

/** Inserts copies of the deployment of the agent `parrot`, which failed before it was created. */
export async function insertFailedDeployments(service: BuiltService, count: number): Promise<void> {
  await insertRows(
    service,
    `insert into deployments select (jsonb_populate_record(deployments, jsonb_build_object('id', gen_random_uuid(),
       'created_at', created_at - number * interval '1 hour', 'state', 'failed', 'activated_at', null))).*
     from deployments, generate_series(1, $1) as number
     where deployments.id = (select desired_deployment_id from agents where name = 'parrot')`,
    count,
  );
}

async function insertRows({ folder }: BuiltService, statement: string, count: number): Promise<void> {
  const database = openDirectDatabaseConnection(join(folder, 'data'));
  await database.rows(statement, [count]);
  await database.rows('analyze');
  await database.close();
}
